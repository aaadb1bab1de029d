"""A tiny encoder and tiny corpora in the original layouts, for tests of training; every sentence is written for the tests."""

import csv
import json
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = """i you we it am are is was feel felt so sad alone lost sorry glad happy hope well hear that this my your day dog cat job
what happened why how do did not know go went to the a and in with can't sleep scared hug love thanks wish luck . ? ! ,""".split()


def encoder(folder: Path) -> Path:
    """A BERT of two layers, 16 wide, with a vocabulary of a few words, as a Hugging Face folder."""
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # type: ignore[attr-defined,unused-ignore]

    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]")  # type: ignore[no-untyped-call]
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=66,
    )
    BertModel(config).save_pretrained(folder)  # type: ignore[no-untyped-call,unused-ignore]
    return folder


SEEK = ["i feel so sad and alone", "i am scared and can't sleep", "my dog was lost , i feel lost"]
PROVIDE = ["i am so sorry to hear that", "i hope you feel well", "a hug to you and love"]
NEITHER = ["i went to my job", "the cat is in the day", "we know how to go"]
INTENTS = {"1": "Negative", "2": "Sympathizing", "0": "Neutral"}


def corpora(folder: Path, *only: str, times: int = 8) -> Path:
    """The corpora that the tasks are trained on, or only those named, in their layouts, a few dozen rows each."""
    for name, (write, count) in WRITERS.items():
        if not only or name in only:
            write(folder / name, count * times)
    return folder


def _iempathize(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    rows = [
        (f"{text} {'.' * n}", label)
        for n in range(times)
        for texts, label in ((NEITHER, "0"), (SEEK, "1"), (PROVIDE, "2"))
        for text in texts
    ]
    with (folder / "dataset.csv").open("w", encoding="cp1252", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    with (folder / "intents_silver.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label", "intent"), *((text, label, INTENTS[label]) for text, label in rows)])


def _epitome(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    replies = [
        ("i am sorry . what happened ?", (1, 0, 2), ("i am sorry .|", "", "what happened ?|")),
        ("go to your job .", (0, 0, 0), ("", "", "")),
    ]
    replies.append(("i felt so sad , i know how you feel .", (2, 1, 1), ("i felt so sad|", "i know how you feel|", "how you feel|")))
    files = ("emotional-reactions-reddit.csv", "interpretations-reddit.csv", "explorations-reddit.csv")
    for column, name in enumerate(files):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales"))
            for n in range(times):
                for kind, (reply, levels, rationales) in enumerate(replies):
                    writer.writerow((f"s{n}-{kind}", f"r{n}-{kind}", SEEK[n % 3], reply, levels[column], rationales[column]))


def _esconv(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    said = {"Question": "what happened ?", "Others": "well , go well .", "Information": "the job is in the day ."}
    chats = [
        {
            "dialog": [
                {"speaker": "seeker", "annotation": {}, "content": SEEK[n % 3]},
                *({"speaker": "supporter", "annotation": {"strategy": name}, "content": text} for name, text in said.items()),
                {"speaker": "seeker", "annotation": {}, "content": "thanks !"},
            ],
            "survey_score": {"seeker": {"empathy": str(1 + n % 5)}, "supporter": {}},
        }
        for n in range(times)
    ]
    (folder / "ESConv.json").write_text(json.dumps(chats), encoding="utf-8")
    (folder / "FailedESConv.json").write_text("[]", encoding="utf-8")


def _care(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    rows = [
        {
            "id": f"{n}:1",
            "turns": [{"role": "customer", "text": "my dog is lost"}, {"role": "agent", "text": reply}],
            "target": 1,
            "intents": intents,
            "perceived": dict.fromkeys(("engagement", "understanding", "sympathy", "helpfulness"), rating),
            "satisfaction": rating,
        }
        for n in range(times)
        for reply, intents, rating in ((("i am sorry .", ["express_sympathy"], 4), ("go .", ["instruct_action"], 1))[n % 2],)
    ]
    (folder / "care_silver.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _exchanges(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    with (folder / "EmpatheticConversations.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("conv_id", "utterance_idx", "context", "prompt", "speaker_idx", "utterance", "Empathy"))
        for n in range(times):
            for place, (text, empathy) in enumerate(((SEEK[n % 3], 1), (PROVIDE[n % 3], 1 + n % 5)), 1):
                writer.writerow((f"hit:{n}", place, "sad", SEEK[n % 3], place, text, empathy))


def _dialogues(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    said = (("sad", SEEK[0]), ("joyful", "i am so happy this day !"))
    for name, count in (("train", times), ("valid", 2), ("test", 2)):
        lines = ["conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"]
        for n in range(count):
            for kind, (emotion, text) in enumerate(said):
                lines += [f"{name}:{n}-{kind},{i},{emotion},x,{i},{line}," for i, line in enumerate((text, "i hear that ."), 1)]
        (folder / f"{name}.csv").write_text("".join(f"{line},\n" for line in lines), encoding="utf-8")


def _causes(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"post_id": f"s{n}-0", "reply_id": f"r{n}-0", "sentences": ["i went to my job .", f"{SEEK[n % 3]} ."], "labels": [0, 1]}
        for n in range(times)
    ]
    told = "".join(json.dumps(row | {"reply": "i am sorry . what happened ?"}) + "\n" for row in rows)
    (folder / "causes_silver.jsonl").write_text(told, encoding="utf-8")


def _reccon(folder: Path, times: int) -> None:
    folder.mkdir(parents=True)
    evidence, spans = "expanded emotion cause evidence", "expanded emotion cause span"
    turns = [
        {"turn": 1, "speaker": "A", "utterance": "my dog was lost .", "emotion": "neutral"},
        {"turn": 2, "speaker": "B", "utterance": "i am so sad .", "emotion": "sadness", evidence: [1], spans: ["my dog was lost"]},
    ]
    for name, count in (("train", times), ("valid", 2), ("test", 2)):
        told = {f"{name}_{n}": [turns] for n in range(count)}
        (folder / f"dailydialog_{name}.json").write_text(json.dumps(told), encoding="utf-8")


WRITERS = {
    "iempathize": (_iempathize, 1),
    "epitome": (_epitome, 1),
    "esconv": (_esconv, 2),
    "care": (_care, 3),
    "empathetic_exchanges": (_exchanges, 1),
    "empatheticdialogues": (_dialogues, 1),
    "epitome_causes": (_causes, 1),
    "reccon": (_reccon, 1),
}


def card(folder: Path) -> dict[str, object]:
    """The model card of a folder."""
    found: dict[str, object] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return found
