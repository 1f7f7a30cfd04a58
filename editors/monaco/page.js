import * as monaco from "monaco-editor";
import { connect } from "./specls.js";

globalThis.MonacoEnvironment = { getWorker: () => new Worker(new URL("dist/editor.worker.js", location.origin + location.pathname)) };

const parameters = new URLSearchParams(location.search);
const editor = monaco.editor.create(document.getElementById("editor"), {
  value: "def add(a, b):\n    return a + b\n\n",
  language: "python",
  minimap: { enabled: false },
  wordBasedSuggestions: "off",
  inlineSuggest: { enabled: true },
  automaticLayout: true,
});
editor.focus();
globalThis.editor = editor;

const status = document.getElementById("status");
connect(monaco, {
  url: parameters.get("server") ?? "ws://127.0.0.1:7778",
  settings: JSON.parse(parameters.get("settings") ?? "{}"),
  onStatus: ({ state, message }) => (status.textContent = message || state),
}).catch((error) => (status.textContent = error.message));
