// The connection to one server process.

import type { ChildProcess } from "node:child_process";
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  ShowMessageNotification,
  type ClientCapabilities,
  type ErrorHandler,
  type FeatureState,
  type Middleware,
  type ServerCapabilities,
  type ShowMessageParams,
  type StaticFeature,
} from "vscode-languageclient/node";
import { serverSettings } from "./config";
import { STATUS, type Status } from "./protocol";

/** Where suggestions are given: files, new ones, and the cells of notebooks. */
export const DOCUMENTS = [
  { scheme: "file" },
  { scheme: "untitled" },
  { scheme: "vscode-notebook-cell" },
];

export interface Listener {
  status(status: Status): void;
  message(params: ShowMessageParams): void;
  /** The server ended, and nobody had asked it to. */
  closed(): void;
}

export function createClient(
  extension: vscode.Extension<unknown>,
  process: ChildProcess,
  log: vscode.LogOutputChannel,
  listener: Listener,
): LanguageClient {
  const middleware: Middleware = {
    workspace: {
      configuration: (params) =>
        params.items.map((item) => serverSettings(extension, item.scopeUri)),
      // `tellSettings` says it, whether the server registers for it or not.
      didChangeConfiguration: () => Promise.resolve(),
    },
  };
  const client = new QuietClient("specls", "specls", () => Promise.resolve(process), {
    documentSelector: DOCUMENTS,
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    textSynchronization: { delayOpenNotifications: true },
    middleware,
    errorHandler: errorHandler(listener),
  });
  client.registerFeature(new OwnFeature());
  client.onNotification(STATUS, (status: Status) => {
    listener.status(status);
  });
  // Takes the place of the library's own popups.
  client.onNotification(ShowMessageNotification.type, (params) => {
    listener.message(params);
  });
  return client;
}

/** Tells the server that settings changed. Without them: it then asks for those that are set. */
export function tellSettings(client: LanguageClient): void {
  const params = { settings: null };
  void client
    .sendNotification(DidChangeConfigurationNotification.type, params)
    .catch(() => undefined);
}

/** The library would start the server again at once, and show a popup each time. */
function errorHandler(listener: Listener): ErrorHandler {
  return {
    error: () => ({ action: ErrorAction.Continue, handled: true }),
    closed: () => {
      listener.closed();
      return { action: CloseAction.DoNotRestart, handled: true };
    },
  };
}

/** What the library reports goes to the log; popups are ours, each with a way out. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Announces what this client knows beyond the protocol, and keeps ghost text to our provider. */
class OwnFeature implements StaticFeature {
  getState(): FeatureState {
    return { kind: "static" };
  }

  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { specls: { status: true } };
    const inline = capabilities.textDocument?.inlineCompletion;
    if (inline) inline.dynamicRegistration = false;
    // The status bar's own item shows how far loading is.
    if (capabilities.window) capabilities.window.workDoneProgress = false;
  }

  /** The library's provider would answer as well, and can't tell what was shown. */
  preInitialize(capabilities: ServerCapabilities): void {
    delete capabilities.inlineCompletionProvider;
  }

  initialize(): void {
    // Everything is said before.
  }

  clear(): void {
    // Nothing is kept.
  }
}
