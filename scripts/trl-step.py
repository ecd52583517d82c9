"""One step of TRL's GRPOTrainer on our tasks, with a tiny random model made here: nothing is fetched, and nothing is learnt.

    python3 scripts/trl-step.py TASKS PLANS.jsonl [--tasks 1] [--tools oracle+5]

TASKS is a folder of tasks; PLANS holds the oracle's calls, as `scripts/verifiers/plans.py` writes them. Of the completions of each task
one is scripted, and replays those calls through TRL's own loop of tools; the others are what the random model says. So the first must earn
1, the others less, and each as much in the trainer as from the judge; the weights must move; and the tools that TRL finds on the environments
must be, task by task and argument by argument, those that it offers. Wants torch, transformers, trl, accelerate, datasets and the package `benchwright`.
"""

import argparse
import importlib.metadata
import json
import os
import tempfile
import time

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from benchwright.trl import Spec, _spelled

TURN = "<|im_start|>assistant"


def tokenizer_of(texts):
    """A small vocabulary of byte pairs, learnt from the tasks themselves."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    words = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2_000, special_tokens=words, initial_alphabet=alphabet, show_progress=False))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


class Scripted(GRPOTrainer):
    """A trainer whose first completion of each task is read from a plan. Everything else is TRL's."""

    plans = {}

    def scripted(self, ids):
        """The next turn of the plan of the task whose prompt this is."""
        shown = self.processing_class.decode(ids)
        calls = self.plans[max((text for text in self.plans if text in shown), key=len)]
        made = shown.count(TURN) - 1
        said = "That is all (scripted)."
        if made < len(calls):
            given = {_spelled(name): value for name, value in json.loads(calls[made]["arguments"]).items()}
            said = "<tool_call>\n" + json.dumps({"name": calls[made]["tool"], "arguments": given}) + "\n</tool_call>"
        return self.processing_class.encode(said + "<|im_end|>", add_special_tokens=False)

    def _generate_single_turn(self, prompt_ids, images, multimodal_fields, num_generations, **rest):
        # In later turns only those come back that have called a tool, which the random model cannot.
        is_first = num_generations == self.num_generations
        if not is_first:
            return [self.scripted(ids) for ids in prompt_ids], None
        said, logprobs = super()._generate_single_turn(prompt_ids, images, multimodal_fields, num_generations, **rest)
        turns = [self.scripted(ids) if at % num_generations == 0 else said[at] for at, ids in enumerate(prompt_ids)]
        return turns, logprobs

    def _calculate_rewards(self, *given, **named):
        self.seen = super()._calculate_rewards(*given, **named)
        self.judged = [environment._episode.grade().reward for environment in self.environments]
        return self.seen


def discovered(trainer, spec):
    """The tools that TRL found, by environment; whatever differs from what each task offers ends it."""
    found = {}
    for task, row in zip(spec.tasks, spec.rows):
        tools = trainer._env_tools[row["environment"] if trainer._multi_environment else None]
        schemas = {tool.__name__: get_json_schema(tool)["function"] for tool in tools}
        offered = {tool["name"]: tool for tool in task.tools(spec.offer)}
        assert sorted(schemas) == sorted(offered), f"{task.id}: {sorted(set(schemas) ^ set(offered))}"
        for tool, line in offered.items():
            wanted = sorted(_spelled(argument) for argument in line["parameters"].get("properties", {}))
            assert sorted(schemas[tool]["parameters"]["properties"]) == wanted, tool
        found[row["environment"]] = len(schemas)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder")
    options.add_argument("plans")
    options.add_argument("--tasks", type=int, default=1, help="so many tasks with the shortest plans")
    options.add_argument("--tools", default="oracle+5")
    options.add_argument("--generations", type=int, default=2)
    options = options.parse_args()
    begun = time.monotonic()
    packages = ("torch", "transformers", "trl", "accelerate", "datasets")
    print(json.dumps({name: importlib.metadata.version(name) for name in packages}))
    set_seed(1)
    with open(options.plans, encoding="utf-8") as lines:
        plans = {plan["task"]: plan for plan in map(json.loads, lines)}
    spec = Spec(options.folder, tools=options.tools)
    chosen = sorted((task.id for task in spec.tasks), key=lambda id: len(plans[id]["calls"]))[: options.tasks]
    rows = spec.train_dataset.filter(lambda row: row["task"] in chosen)
    tokenizer = tokenizer_of([json.dumps(task.tools(spec.offer)) for task in spec.tasks] + [task.instruction for task in spec.tasks])
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), max_position_embeddings=262_144, tie_word_embeddings=True, **shape))
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    with tempfile.TemporaryDirectory() as scratch:
        settings = GRPOConfig(
            output_dir=scratch,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            max_steps=1,
            logging_steps=1,
            learning_rate=1e-2,
            per_device_train_batch_size=options.generations * len(chosen),
            num_generations=options.generations,
            max_completion_length=100_000,
            generation_kwargs={"max_new_tokens": 16},
            gradient_checkpointing=False,
            disable_tqdm=True,
        )
        trainer = Scripted(
            model=model,
            args=settings,
            processing_class=tokenizer,
            train_dataset=rows,
            environment_factory=spec.environment_factory,
            reward_funcs=spec.reward_funcs,
        )
        trainer.plans = {plans[id]["instruction"].strip(): plans[id]["calls"] for id in chosen}
        print(json.dumps({"environments_and_tools_found": discovered(trainer, spec)}))
        trainer.train()
    log = next(line for line in trainer.state.log_history if "reward" in line)
    # What the trainer learns from is the weighted sum of its sources.
    total = (trainer.seen * trainer.reward_weights).nansum(dim=1).tolist()
    moved = max(float((value.detach() - before[name]).abs().max()) for name, value in model.named_parameters())
    told = {
        "tasks": chosen,
        "calls": [len(plans[id]["calls"]) for id in chosen],
        "reward_sources": trainer.reward_func_names,
        "reward": total,
        "judged": trainer.judged,
        "tool_calls_a_completion": log.get("tools/call_frequency"),
        "tool_failures": log.get("tools/failure_frequency"),
        "completion_tokens": log.get("completions/max_length"),
        "loss": log["loss"],
        "largest_change_of_a_weight": moved,
        "seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(told))
    scripted = total[:: options.generations]
    others = [value for at, value in enumerate(total) if at % options.generations]
    assert torch.allclose(torch.tensor(total), torch.tensor(trainer.judged)), "the trainer was paid something else than the judge said"
    assert all(value == 1.0 for value in scripted) and all(value < 1.0 for value in others), "the plan must earn 1, and nothing else"
    assert moved > 0.0, "no weight moved"


if __name__ == "__main__":
    main()
