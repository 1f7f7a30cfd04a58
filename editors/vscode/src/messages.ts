// What is said in popups: each thing once, with a way out.

import * as vscode from "vscode";
import {
  MessageType,
  type LanguageClient,
  type ShowMessageParams,
} from "vscode-languageclient/node";
import type { Models } from "./models";
import { inWords } from "./summary";

export class Messages {
  private readonly said = new Set<string>();
  private isInTrouble = false;
  private readonly showLog = {
    "Show Log": () => {
      this.log.show();
    },
  };

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly models: Models,
  ) {}

  /** Things are well: what was said may be said again when it comes back. */
  forget(): void {
    this.isInTrouble = false;
    this.said.clear();
  }

  /** A message of the server. */
  async fromServer(client: LanguageClient | undefined, params: ShowMessageParams): Promise<void> {
    if (params.type === MessageType.Error) {
      await this.problem(client, params.message);
    } else if (this.isNew(params.message)) {
      const show =
        params.type === MessageType.Warning
          ? vscode.window.showWarningMessage
          : vscode.window.showInformationMessage;
      await show(params.message);
    }
  }

  /**
   * The server can't complete anything; said once until it can again, however often it's told.
   * Where that's for want of a model, it can be fetched.
   */
  async problem(client: LanguageClient | undefined, text: string): Promise<void> {
    if (this.isInTrouble) return;
    this.isInTrouble = true;
    const missing = client === undefined ? undefined : await this.models.missing(client);
    if (missing === undefined) {
      await this.offer(text.startsWith("specls: ") ? text : `specls: ${text}`, this.showLog);
      return;
    }
    const size = inWords(missing.bytes);
    await this.offer(`specls: the model ${missing.id} isn't on this machine yet (${size}).`, {
      Download: () => this.models.download(missing.id),
      "Choose Another": "specls.chooseModel",
    });
  }

  async serverMissing(wrong: string | undefined): Promise<void> {
    const text =
      wrong === undefined
        ? "specls: the server wasn't found. It can be set up in a Python environment of its own."
        : `specls: there's no program at ${wrong}, which the setting specls.server.path names.`;
    if (!this.isNew(text)) return;
    await this.offer(text, { "Set Up": "specls.setUp", "Choose Path": "specls.choosePath" });
  }

  async serverCrashed(): Promise<void> {
    await this.offer("specls: the server ended three times in a short time.", {
      Restart: "specls.restart",
      ...this.showLog,
    });
  }

  async serverFailed(reason: string): Promise<void> {
    if (!this.isNew(reason)) return;
    await this.offer(`specls: the server can't be started. ${reason}`, {
      "Set Up": "specls.setUp",
      "Choose Path": "specls.choosePath",
      ...this.showLog,
    });
  }

  private isNew(text: string): boolean {
    const isNew = !this.said.has(text);
    this.said.add(text);
    return isNew;
  }

  /** Show an error with buttons: each a command or a function. */
  private async offer(text: string, ways: Record<string, string | (() => unknown)>): Promise<void> {
    this.log.error(text);
    const chosen = await vscode.window.showErrorMessage(text, ...Object.keys(ways));
    const way = chosen === undefined ? undefined : ways[chosen];
    if (typeof way === "string") await vscode.commands.executeCommand(way);
    else await way?.();
  }
}
