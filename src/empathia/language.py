"""Is a text in English? The model has read nothing else, and a text in another language must not be scored in silence.

Function words tell: any sentence is full of them, and they are few. Where those of another language outnumber the English
ones, or most letters are not Latin, the text is foreign. Too little to tell counts as English.
"""

import re

from empathia.words import STOP

_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-z\u00c0-\u024f\u1e00-\u1eff]", re.IGNORECASE)
_ENGLISH = STOP | {"a", "i", "not", "no", "never", "don", "can", "t", "s", "m", "nothing", "nobody", "good", "know", "like", "help"}
_OTHERS = {
    "Czech": "je se na že to jsem jak ale co si tak mi jsi tady když protože není byl být už",
    "Danish or Norwegian": "jeg er og det at på ikke har til med som kan hvad mig dig hva meg deg men også være min",
    "Dutch": "ik het een en van niet dat is je op te zijn voor met maar mijn wat ben heb hij zo ook naar als geen",
    "Finnish": "minä olen ja ei se että on mutta niin mitä en ole kun hän sinä myös minun oli voi tämä",
    "French": "je le la les un une et est que pas ne vous tu mais pour dans ce qui suis mon des avec du j'ai c'est très elle moi ai",
    "German": "ich und der die das nicht ist ein eine es sie mir zu mich aber auch wie du dich wir mein habe bin hat den dem sehr so für",
    "Hungarian": "én és nem az egy hogy van meg csak de ez már mint vagyok nagyon miért mit volt kell",
    "Indonesian or Malay": "saya aku dan yang tidak itu ini kamu untuk dengan ada apa di ke dia sangat bisa akan juga",
    "Italian": "io il la che non di è un una per sono mi ma ho con anche del tu questo come mio molto perché della gli",
    "Polish": "jestem nie to się na jest że w z i mnie jak ale co mi tak mój jej bardzo moja już ja",
    "Portuguese": "eu o que não de um uma é para com meu minha mas você ele ela muito está isso por estou me os em",
    "Romanian": "eu și nu că să este sunt am o un cu pe mai ce dar la din foarte mi mă",
    "Spanish": "yo el la que no de un una es y en mi me por con pero los estoy muy para lo se tu te como mucho está ella cuando",
    "Swedish": "jag och är det att inte på en har för med som kan vad mig dig men också min så vara",
    "Turkish": "ben bir ve bu çok için ne ama da de değil var sen gibi mi daha benim beni",
    "Vietnamese": "tôi là và không của có cho được một người này anh em với những rất đã bạn",
}
_WORDS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}
_ANY = frozenset().union(*_WORDS.values())


def foreign(text: str) -> bool:
    """Whether a text is clearly in a language other than English."""
    words = _LETTERS.findall(text.lower())
    letters = "".join(words)
    if letters and 2 * len(_LATIN.findall(letters)) < len(letters):
        return True
    english = sum(word in _ENGLISH for word in words)
    others = [word for word in words if word in _ANY and word not in _ENGLISH]
    if len(others) < 2 or len(others) <= english:
        return False
    return max(sum(word in known for word in others) for known in _WORDS.values()) > max(1, english)
