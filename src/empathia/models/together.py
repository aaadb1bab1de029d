"""Causes by co-attention, the turns read in one text with the one that reacts: it heeds the reply more, but needs a pass for each reply."""

from functools import partial

from empathia.models.coattention import Coattention

HEAD = partial(Coattention, reading="together")
