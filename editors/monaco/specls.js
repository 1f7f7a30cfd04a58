// specls in a Monaco editor: a small client over a WebSocket, and a provider of inline completions.

/** JSON-RPC over a WebSocket, one message in each of its messages. */
class Connection {
  #socket;
  #waiting = new Map();
  #last = 0;

  /** @param {(method: string, params: any) => void} onNotification */
  constructor(url, onNotification, onClose) {
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The connection is closed."));
      this.#waiting.clear();
      onClose();
    });
    this.#socket.addEventListener("message", ({ data }) => {
      const text = typeof data === "string" ? data : new TextDecoder().decode(data);
      this.#take(JSON.parse(text), onNotification);
    });
    this.opened = new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", resolve);
      this.#socket.addEventListener("error", () => reject(new Error(`${url} doesn't answer.`)));
    });
  }

  #take(message, onNotification) {
    if (message.method !== undefined && message.id !== undefined) {
      // Nothing is announced that the server could ask for.
      this.#send({ id: message.id, error: { code: -32601, message: "unknown method" } });
    } else if (message.method !== undefined) {
      onNotification(message.method, message.params);
    } else {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.reject(Object.assign(new Error(message.error.message), message.error));
      else waiting?.resolve(message.result);
    }
  }

  #send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
    }
  }

  notify(method, params) {
    this.#send({ method, params });
  }

  /** The result; an abort of Monaco's token cancels the request. */
  request(method, params, token) {
    const id = ++this.#last;
    const abort = token?.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
    return answer.finally(() => abort?.dispose());
  }
}

const toPosition = ({ lineNumber, column }) => ({ line: lineNumber - 1, character: column - 1 });

const fromRange = ({ start, end }) => ({
  startLineNumber: start.line + 1,
  startColumn: start.character + 1,
  endLineNumber: end.line + 1,
  endColumn: end.character + 1,
});

/**
 * Connect all models of this page's Monaco with a server, until the connection is closed.
 *
 * @param monaco the module `monaco-editor`
 * @param {{url: string, settings?: object, token?: string, onStatus?: (status: object) => void}} options
 */
export async function connect(monaco, { url, settings = {}, token, onStatus = () => {} }) {
  const disposables = [];
  const close = () => {
    for (const each of disposables.splice(0)) each.dispose();
    onStatus({ state: "closed", message: `The connection to ${url} is closed.` });
  };
  const told = (method, params) => {
    if (method === "specls/status") onStatus(params);
  };
  const server = new Connection(url, told, close);
  await server.opened;
  await server.request("initialize", {
    processId: null,
    rootUri: null,
    clientInfo: { name: "Monaco" },
    initializationOptions: token ? { ...settings, token } : settings,
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      textDocument: { inlineCompletion: { dynamicRegistration: false } },
      experimental: { specls: { status: true } },
    },
  });
  server.notify("initialized", {});

  const follow = (model) => {
    const uri = model.uri.toString();
    const open = () =>
      server.notify("textDocument/didOpen", {
        textDocument: { uri, languageId: model.getLanguageId(), version: model.getVersionId(), text: model.getValue() },
      });
    const shut = () => server.notify("textDocument/didClose", { textDocument: { uri } });
    open();
    disposables.push(
      model.onDidChangeContent(({ changes, versionId }) =>
        server.notify("textDocument/didChange", {
          textDocument: { uri, version: versionId },
          // Monaco gives them from the end of the text to its beginning, so each may stand for itself.
          contentChanges: changes.map(({ range, text }) => ({
            range: {
              start: toPosition({ lineNumber: range.startLineNumber, column: range.startColumn }),
              end: toPosition({ lineNumber: range.endLineNumber, column: range.endColumn }),
            },
            text,
          })),
        }),
      ),
      model.onDidChangeLanguage(() => (shut(), open())),
      model.onWillDispose(shut),
    );
  };
  monaco.editor.getModels().forEach(follow);
  disposables.push(
    monaco.editor.onDidCreateModel(follow),
    monaco.editor.registerCommand("specls.run", (_accessor, command) =>
      server.request("workspace/executeCommand", { command: command.command, arguments: command.arguments }),
    ),
    monaco.languages.registerInlineCompletionsProvider("*", provider(monaco, server)),
  );
  return { dispose: close };
}

function provider(monaco, server) {
  const { Explicit } = monaco.languages.InlineCompletionTriggerKind;
  return {
    async provideInlineCompletions(model, position, context, token) {
      const selected = context.selectedSuggestionInfo;
      const params = {
        textDocument: { uri: model.uri.toString() },
        position: toPosition(position),
        context: {
          triggerKind: context.triggerKind === Explicit ? 1 : 2,
          ...(selected && { selectedCompletionInfo: selection(selected) }),
        },
      };
      let items = [];
      try {
        ({ items } = await server.request("textDocument/inlineCompletion", params, token));
      } catch (error) {
        if (error.code !== -32800) console.warn("specls:", error.message); // -32800: cancelled
      }
      return { items: items.map(toItem) };
    },
    handleItemDidShow(_completions, { sent }) {
      server.notify("textDocument/didShowCompletion", { item: sent });
    },
    handlePartialAccept(_completions, { sent }, acceptedLength) {
      server.notify("textDocument/didPartiallyAcceptCompletion", { item: sent, acceptedLength });
    },
    handleEndOfLifetime(_completions, { sent }, { kind }) {
      const { Accepted, Ignored } = monaco.languages.InlineCompletionEndOfLifeReasonKind;
      if (kind !== Accepted) {
        server.notify("specls/didRejectCompletion", { item: sent, ignored: kind === Ignored });
      }
    },
    disposeInlineCompletions() {},
  };
}

const selection = ({ range, text }) => ({
  range: {
    start: toPosition({ lineNumber: range.startLineNumber, column: range.startColumn }),
    end: toPosition({ lineNumber: range.endLineNumber, column: range.endColumn }),
  },
  text,
});

const toItem = (sent) => ({
  insertText: sent.insertText,
  range: fromRange(sent.range),
  command: sent.command && { id: "specls.run", title: sent.command.title, arguments: [sent.command] },
  sent,
});
