import assert from "node:assert/strict";
import { test } from "node:test";
import { contextPage, statisticsPage } from "../src/pages";

test("the context is shown part by part, in fences that its text can't end", () => {
  const page = contextPage(
    {
      tokens: 4,
      excluded: null,
      parts: [
        { kind: "marker", text: "<|fim_prefix|>", tokens: 1 },
        { kind: "file", text: "```\ncode", tokens: 3, path: "src/a.py" },
      ],
    },
    "b.py:1:2",
  );
  assert.equal(
    page,
    "# What the model is given at b.py:1:2\n\n4 tokens, in this order.\n\n" +
      "**Marker** `<|fim_prefix|>`\n\n" +
      "**Another file: src/a.py** (3 tokens)\n\n````\n```\ncode\n````\n",
  );
});

test("an excluded document says why", () => {
  const page = contextPage({ parts: [], tokens: 0, excluded: "it may hold secrets" }, ".env:1:1");
  assert.equal(page, "# What the model is given at .env:1:1\n\nNothing: it may hold secrets.\n");
});

test("statistics are tables, and what isn't there yet is left out", () => {
  const page = statisticsPage({
    state: "ready",
    models: { target: "a|b", fillInTheMiddle: true, draft: null, backend: { gpu: false } },
    requests: { received: 2, withoutModel: 1 },
    decodedTokens: 0,
    excluded: {},
    suggestions: {
      total: { shown: 2, accepted: 1, characters: 9, charactersKept: 4, charactersPending: 5 },
      byLanguage: {},
    },
    latency: null,
    lastCompletion: null,
  });
  assert.match(page, /\| target \| a\\\|b \|/);
  assert.match(page, /\| fillInTheMiddle \| true \|/);
  assert.match(page, /\| \*\*all\*\* \| 2 \| 1 of 2 \(50 %\) \| 0 \| 0 \| 0 \| 4 of 4 \|/);
  assert.match(page, /\| requests \| 2 \|/);
  assert.doesNotMatch(page, /draft|backend|within|The last completion|Nothing is completed in/);
});
