"""A few lines per reader, written for these tests in the layout of the original files, and how many records they hold."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Content = str | bytes


class Sample(NamedTuple):
    """Files by name, and the number of records that the reader should find in them."""

    files: dict[str, Content]
    records: int

    def write(self, folder: Path) -> Path:
        """The files in a folder; a format of single files gives the one file."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return folder


def lines(*values: object) -> str:
    """JSON Lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def write_parquet(rows: list[dict[str, Any]], path: Path) -> Path:
    """The rows as a Parquet file."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    return path


MESSAGES: dict[str, Any] = {
    "id": "c1",
    "messages": [{"role": "user", "content": "The oven broke."}, {"role": "bot", "content": "Oh no, today of all days?"}],
}
EPITOME_HEAD = "sp_id,rp_id,seeker_post,response_post,level,rationales\n"
EPITOME_ROWS = 'p1,r1,My cat ran away.,"Sorry to hear.  Where did you &gt; look?",{},{}\np2,r2,Bad day.,Same here.,0,\n'
ED_HEAD = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
ESCONV = {
    "experience_type": "Current Experience",
    "situation": "The exam is near.",
    "survey_score": {"seeker": {"initial_emotion_intensity": "4", "empathy": "5"}, "supporter": {"relevance": "3"}},
    "dialog": [
        {"speaker": "seeker", "annotation": {}, "content": "I cannot sleep.\n"},
        {"speaker": "supporter", "annotation": {"strategy": "Question"}, "content": "Since when?"},
    ],
    "split": "train",
}
FAILED = {
    "survey_score": {"seeker": {}, "supporter": {}},
    "dialog": [
        {"speaker": "speaker", "annotation": {"feedback": "2"}, "content": "hm"},
        {"speaker": "listener", "annotation": {"strategy": "Direct Guidance"}, "content": "Go for a walk.\n"},
    ],
}
RECCON = {
    "tr_1": [
        [
            {"turn": 1, "speaker": "A", "utterance": "We won the cup !", "emotion": "happines"}
            | {"expanded emotion cause evidence": [1, "b"], "expanded emotion cause span": ["won the cup", "b"], "type": ["latent"]},
            {"turn": 2, "speaker": "B", "utterance": "Good .", "emotion": "neutral"},
        ]
    ]
}
CARE = {
    "id": "x:1",
    "turns": [{"role": "customer", "text": "No parcel yet."}, {"role": "agent", "text": "Sorry! Please send the number."}],
    "target": 1,
    "intents": ["express_apology", "ask_details"],
    "perceived": {"engagement": 3, "understanding": 3, "sympathy": 4, "helpfulness": 2},
    "satisfaction": 3,
}
COMET = {
    "idx": 0,
    "Emotion": "proud",
    "Context": ["i baked bread .", "how was it ?", "great !"],
    "Ref": "well done .",
    "x_intent": ["to eat"],
    "x_need": [],
    "x_want": [],
    "x_effect": [],
    "x_react": ["happy", "full"],
}
PEER = "emotion:proud \nContext:['i baked bread .'] \nEmotion_context:['bread'] \nPred:how nice .  \nRef:well done . \n"
MOEL = "Emotion: proud\nContext: ['i baked bread .']\ntrs: a\ntrs+multitask: b\nMOE: c\nref: well done .\nMOE+oracle: d\n\n"
MIME = (
    "### COMMENT: x ###\nEVAL\tLoss\ntest\t3.1\nemotion:proud\tvader-score: 0.1\tpredicted_emotion: sad\n"
    "Context:['i baked bread .']\nTopk:x \nBeam: y \nGreedy:z \nRef:well done .\n------\n"
)
CEM = (
    "EVAL\tLoss\n3.5\t36.1\nEmotion: proud\nPred Emotions: sad, proud\nx_intent:[]\nx_react:['happy']\n"
    "Context:['i baked bread .']\nBeam:y \nGreedy:z \nRef:well done .\n------\n"
)
INTENTS = (
    "acknowledging advising agreeing appreciating consoling disapproving encouraging expressing_care_concern expressing_relief "
    "questioning sharing_experience sharing_opinions suggesting sympathizing wishing"
)
SAMPLES = {
    "atomic2020": Sample(
        {
            "train.tsv": "PersonX bakes bread\txWant\tto eat it\n",
            "dev.tsv": "PersonX bakes bread\txReact\tproud\n",
            "test.tsv": "PersonX bakes bread @@ xNeed\tto buy flour| none\n\n",
        },
        4,
    ),
    "care": Sample({"care_silver.jsonl": lines(CARE)}, 1),
    "comet_bart": Sample(
        {"comet_bart.jsonl": lines({"head": "h", "relation": "xWant", "tails": ["t"], "generations": ["a", "b"], "greedy": "a"})}, 3
    ),
    "comet_contexts": Sample({"comet_test.jsonl": lines(COMET)}, 1),
    "crisis": Sample({"sentences.jsonl": lines({"text": "Call me at once.", "risk": 1, "kind": "danger", "note": "short"})}, 1),
    "cskb": Sample({"evaluation_set.csv": "head,relation,tail,label,class,split\nh,xWant,t,1,all_head,tst\nh,xWant,u,0,all_head,dev\n"}, 2),
    "neutral": Sample({"exchanges.jsonl": lines({"context": "Which bus?", "reply": "The 12.", "register": "forum"})}, 1),
    "edos": Sample(
        {
            "mturk.csv": "DialogID,Dialog,Agreed emotion (2/3 vote)\n"
            '1,"Look !\nA bird .",Surprised\n2,Yes .,Agreeing\n2,Hm .,-\n3,No .,Rude (Other)\n'
        },
        4,
    ),
    "empathetic_exchanges": Sample(
        {
            "EmpatheticConversations.csv": "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,Empathy\n"
            'c1,1,sad,rain,7,"It rains_comma_ again",2\nc1,2,sad,rain,9,Poor you.,5\nc2,1,sad,rain,7,Hello,1\nc1,1,sad,rain,7,It rains,3\n'
        },
        3,
    ),
    "empathetic_intents": Sample({f"{name}.txt": "Well, well.\n\n" for name in INTENTS.split()}, 15),
    "empatheticdialogues": Sample(
        {
            "train.csv": ED_HEAD
            + 'c1,1,proud,baking_comma_ bread,5,I "baked_comma_ bread,,\nc1,2,proud,baking_comma_ bread,3,How nice!,,\n'
            "c1,3,too,few\nc2,1,sad,rain,0,It rains.,,\n",
            "valid.csv": ED_HEAD + "c3,1,sad,rain,0,It rains.,,,one|two\n",
            "test.csv": ED_HEAD + "c4,1,sad,rain,0,It rains.,,\n",
        },
        4,
    ),
    "empathic_reactions": Sample(
        {
            "messages.csv": "message_id,response_id,article_id,empathy,distress,empathy_bin,distress_bin,essay\n"
            "m1,w1,12,5.667,1.0,1,0,That is hard to read.\n"
        },
        1,
    ),
    "epitome": Sample(
        {
            "emotional-reactions-reddit.csv": EPITOME_HEAD + EPITOME_ROWS.format(2, "Sorry to  HEAR.|not there|"),
            "interpretations-reddit.csv": EPITOME_HEAD + EPITOME_ROWS.format(0, ""),
            "explorations-reddit.csv": EPITOME_HEAD + EPITOME_ROWS.format(1, "Where did you > look?"),
        },
        2,
    ),
    "epitome_causes": Sample(
        {
            "causes_silver.jsonl": lines(
                {"post_id": "p1", "reply_id": "r1", "sentences": ["Hello all.", "My cat ran away."], "labels": [0, 1], "reply": "Oh no."}
            )
        },
        1,
    ),
    "esconv": Sample({"ESConv.json": json.dumps([ESCONV], indent=1), "FailedESConv.json": json.dumps([FAILED])}, 2),
    "event2mind": Sample(
        {
            f"{split}.csv": "Source,Event,Xintent,Xemotion,Otheremotion,Xsent,Osent\n"
            'rocstory,PersonX bakes,"[""to eat"", ""fun""]","[""proud""]",[],,4.0\n'
            for split in ("train", "dev", "test")
        },
        9,
    ),
    "iempathize": Sample(
        {
            "dataset.csv": "text,label\nI can\u2019t sleep.,1\nHugs to you.,2\nIt is Monday.,9\n".encode("cp1252"),
            "intents_silver.csv": "text,label,intent\nI can\u2019t sleep.,1,Negative\n",
        },
        2,
    ),
    "peers": Sample(
        {"Transformer.txt": PEER, "EmpDG.txt": PEER, "KEMP.txt": PEER, "MIME.txt": MIME, "CEM.txt": CEM, "MoEL.txt": MOEL * 2}, 13
    ),
    "probe": Sample(
        {
            "personachat.jsonl": lines({"context": "hi .", "response": "hello ."}),
            "ubuntu.jsonl": lines({"context": "apt?", "response": "yes"}),
        },
        2,
    ),
    "reccon": Sample({f"dailydialog_{split}.json": json.dumps(RECCON, indent=0) for split in ("train", "valid", "test")}, 3),
    "convokit": Sample(
        {
            "utterances.jsonl": lines(
                {
                    "id": "u2",
                    "conversation_id": "u1",
                    "speaker": "b",
                    "text": "Me too.",
                    "reply-to": "u1",
                    "timestamp": 2,
                    "meta": {"k": 1},
                },
                {"id": "v1", "conversation_id": "v1", "speaker": "a", "text": "Second.", "reply-to": None, "timestamp": 9},
                {"id": "u1", "conversation_id": "u1", "speaker": "a", "text": "I am tired.", "reply-to": None, "timestamp": 1},
                {"id": "v0", "root": "v1", "user": "c", "text": "First.", "reply_to": None, "timestamp": 3},
            ),
            "conversations.json": json.dumps({"u1": {"meta": {"title": "t"}, "vectors": []}}),
            "corpus.json": "{}",
            "speakers.json": "{}",
        },
        2,
    ),
    "results": Sample(
        {
            "results.jsonl": lines(
                {
                    "schema": "empathia/1",
                    "id": "c1",
                    "model": {"name": "m", "version": "1", "sha256": ""},
                    "summary": {"given": 1},
                    "turns": [
                        {
                            "index": 0,
                            "role": "a",
                            "content": "I am sad.",
                            "sentences": [],
                            "direction": {"label": "seek", "scores": {"seek": 0.9}},
                        },
                        {
                            "index": 1,
                            "role": "b",
                            "content": "Oh no. Why?",
                            "sentences": [],
                            "outcome": "given",
                            "mechanisms": {
                                "explorations": {"level": 1, "scores": [0.2, 0.8, 0], "rationales": [{"start": 7, "end": 11, "score": 0.9}]}
                            },
                            "intent": None,
                            "service": {"labels": ["ask_details"], "scores": {"ask_details": 0.7}},
                            "sympathy": 3.5,
                            "hope": {"spans": [{"start": 0, "end": 6, "score": 0.8, "seed": "Oh."}]},
                            "metadata": {"csat": "4"},
                        },
                    ],
                },
            )
            + "oops\n"
            + '{"schema": "empathia/1", "id": 3}\n'
        },
        1,
    ),
    "labelstudio": Sample(
        {
            "export.json": json.dumps(
                [
                    {"id": 7, "data": {"dialogue": [{"author": "a", "text": "Hi."}, {"author": "b", "text": "Hello."}], "page": 2}}
                    | {"annotations": [{"result": []}]},
                    {
                        "id": 8,
                        "chat": [{"role": "a", "content": "Hi."}, {"role": "b", "content": "Yes?"}],
                        "annotator": 1,
                        "choice": "good",
                    },
                ]
            )
        },
        2,
    ),
    "messages": Sample({"chats.jsonl": lines(MESSAGES, MESSAGES | {"id": 2})}, 2),
    "pairs_csv": Sample({"pairs.csv": "id;Post;Reply;score\n1;Bad, bad day;Oh;3\n2;x;y;4\n"}, 2),
    "parquet": Sample({}, 2),
    "sharegpt": Sample(
        {
            "share.json": json.dumps(
                [{"id": "s", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hey", "w": 1}], "k": 1}]
            )
        },
        1,
    ),
    "turns_csv": Sample(
        {
            "turns.csv": "\ufeffconversation_id,speaker,text,mood\n"
            'c1,a,"Hi,\nthere",1\nc1,b,Hello,2\nc2,a,x,1\nc2,b,y,1\nc1,a,again,3\nc1,b,ok,3\n'
        },
        3,
    ),
}
