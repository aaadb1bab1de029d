"""The labelling configuration of a Label Studio project, made of what the tasks declare.

A region with the label `turn` covers each turn: select it to answer the questions about it. Other labels mark the words
that show something.
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from empathia.corpora.labelstudio import NONE, TURN
from empathia.task import Causes, Choice, Choices, Flag, Level, Output, Rating, Spans

OBJECT, REGIONS = "dialogue", "regions"
COLOURS = ("#c2417c", "#5b6ee1", "#1b8a9e", "#b7791f", "#0d6e66", "#b53a08")
HELP = "Select the region of a turn to answer the questions about it; mark words with the other labels."
ON_TURN = {"perRegion": "true", "visibleWhen": "region-selected", "whenLabelValue": TURN}
STARS, NUMBER = "rating", "number"  # whole ratings are given as stars, others as numbers


def config(outputs: Mapping[str, Output], whole: Mapping[str, Output], kinds: Mapping[str, str]) -> str:
    """The configuration as XML: questions on each turn, and questions on the whole dialogue."""
    view = Element("View")
    SubElement(view, "Header", value=HELP)
    regions = SubElement(view, "ParagraphLabels", name=REGIONS, toName=OBJECT)
    SubElement(regions, "Label", value=TURN, background="#d8d8d2")
    marked = [name for name, output in outputs.items() if isinstance(output, Level | Spans)]
    for number, name in enumerate(marked):
        SubElement(regions, "Label", value=name, background=COLOURS[number % len(COLOURS)])
    SubElement(view, "Paragraphs", name=OBJECT, value=f"${OBJECT}", layout="dialogue", nameKey="author", textKey="text")
    for asked, when in ((outputs, ON_TURN), (whole, {})):
        for name, output in asked.items():
            if not isinstance(output, Spans | Causes | Flag):  # whose label among the regions is all there is to it
                _question(view, name, output, kinds[name] == STARS, when)
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def _question(view: Element, name: str, output: Choice | Choices | Level | Rating, stars: bool, when: Mapping[str, str]) -> None:
    block = SubElement(view, "View", {key: value for key, value in when.items() if key != "perRegion"})
    SubElement(block, "Header", value=_asked(name, output), size="5")
    control = {"name": name, "toName": OBJECT, **when}
    if isinstance(output, Rating) and stars:
        SubElement(block, "Rating", {**control, "maxRating": str(max(5, output.high))})
    elif isinstance(output, Rating):
        SubElement(block, "Number", control)
    else:
        how = "multiple" if isinstance(output, Choices) else "single"
        choices = SubElement(block, "Choices", {**control, "choice": how, "showInline": "true"})
        for value, meaning in _choices(output).items():
            shown = f"{value} {meaning}" if isinstance(output, Level) and meaning != value else value
            SubElement(choices, "Choice", {"value": shown, "alias": value, **({"hint": meaning} if meaning else {})})


def _asked(name: str, output: Choice | Choices | Level | Rating) -> str:
    if output.question == name:
        return name.replace("_", " ")
    ends = f" {output.low}: {output.ends[0]}; {output.high}: {output.ends[1]}" if isinstance(output, Rating) else ""
    return f"{name.replace('_', ' ')}: {output.question}{ends}"


def _choices(output: Choice | Choices | Level) -> dict[str, str]:
    """What can be chosen, with its meaning; "none" must be said, so that a question left open is told from it."""
    if isinstance(output, Level):
        return {str(level): meaning for level, meaning in enumerate(output.levels)}
    return {**output.labels, **({NONE: "none of these"} if isinstance(output, Choices) else {})}
