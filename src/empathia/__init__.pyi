from empathia.analysis import analyse as analyse
from empathia.analysis import analyse_all as analyse_all
from empathia.corpora import open_dialogues as read
from empathia.errors import EmpathiaError as EmpathiaError
from empathia.evaluation import evaluate as evaluate
from empathia.models import load as load_model
from empathia.schema import Analysis as Analysis
from empathia.schema import Dialogue as Dialogue
from empathia.schema import Problem as Problem
from empathia.schema import Turn as Turn

__all__ = ["Analysis", "Dialogue", "EmpathiaError", "Problem", "Turn", "analyse", "analyse_all", "evaluate", "load_model", "read"]
__version__: str
