"""`python -m empathia` is the command `empathia`."""

from empathia.cli import main

main()
