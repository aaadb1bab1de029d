"""Tiny language models of both kinds with random weights and a tokenizer of a few words; none of them knows anything."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = """below is a part of one many text conversations between people judge the reply message after word others help to understand it
purpose question options how which does this apply applies not tone moves care helpful flat warm cold none kind unkind ask advise asks
something gives advice caring little much useless very useful yes no before after anna ben i am so sorry feel lost go away what happened
0 1 2 3 4 5 10 ( ) : , . ? ! not caring""".split()
SPECIAL = ["[PAD]", "[UNK]", "[END]", "[BEGIN]"]


def tokenizer(*, seq2seq: bool) -> Any:
    """A word or, for what it does not know, its letters; a text ends with [END] (sequence to sequence) or begins with [BEGIN]."""
    from transformers import PreTrainedTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    known = [*SPECIAL, *dict.fromkeys([*WORDS, *letters, *(f"##{letter}" for letter in letters)])]
    made = Tokenizer(models.WordPiece({word: place for place, word in enumerate(known)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    single = "$A [END]" if seq2seq else "[BEGIN] $A"
    made.post_processor = processors.TemplateProcessing(single=single, special_tokens=[("[END]", 2), ("[BEGIN]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", eos_token="[END]", bos_token="[BEGIN]")  # type: ignore[no-untyped-call]


def seq2seq(folder: Path) -> str:
    """A T5 of two layers, 32 wide."""
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    words = tokenizer(seq2seq=True)
    words.save_pretrained(folder)
    config = T5Config(vocab_size=len(words), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, dropout_rate=0.0)
    config.decoder_start_token_id = 0
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)


def causal(folder: Path) -> str:
    """A Llama of two layers, 32 wide."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    words = tokenizer(seq2seq=False)
    words.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=600,
        initializer_range=0.2,
        eos_token_id=2,
        bos_token_id=3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)  # type: ignore[no-untyped-call,unused-ignore]
    return str(folder)


KINDS = {"seq2seq": seq2seq, "causal": causal}
