// Choosing and fetching models.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { own, set } from "./config";
import { MODELS, type Model } from "./protocol";
import { parseProgress } from "./progress";
import { Failed, run, Stopped } from "./run";
import type { Server } from "./server";
import { inWords } from "./summary";

export class Models {
  constructor(
    private readonly server: Server,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async list(client: LanguageClient): Promise<Model[]> {
    return (await client.sendRequest<{ models: Model[] }>(MODELS, {})).models;
  }

  /** The target that the settings ask for, when it's known and not on this machine. */
  async missing(client: LanguageClient): Promise<Model | undefined> {
    const models = await this.list(client).catch(() => []);
    const wanted = own("model", "");
    return models.find((model) => model.id === wanted && !model.present);
  }

  async chooseTarget(): Promise<void> {
    const model = await this.choose("target", "Which model should write suggestions?");
    if (model !== undefined && (await this.have(model))) await set("model", model.id);
  }

  async chooseDraft(): Promise<void> {
    const client = this.server.client;
    if (client === undefined) return;
    const models = await this.list(client);
    const target = models.find((model) => model.kind === "target" && model.current);
    const drafts = models.filter((model) => target?.drafts.includes(model.id));
    const items = [
      { label: "auto", description: "the one that goes with the model", value: "auto" },
      { label: "none", description: "no draft model", value: "none" },
      ...drafts.map((model) => ({ ...item(model), value: model.id })),
    ];
    const chosen = await vscode.window.showQuickPick(items, {
      placeHolder: "Which small model should draft for the large one?",
    });
    const model = drafts.find((each) => each.id === chosen?.value);
    if (chosen === undefined || (model !== undefined && !(await this.have(model)))) return;
    await set("draftModel", chosen.value);
  }

  private async choose(kind: Model["kind"], placeHolder: string): Promise<Model | undefined> {
    const client = this.server.client;
    if (client === undefined) return undefined;
    const models = (await this.list(client)).filter((model) => model.kind === kind);
    const items = models.map((model) => ({ ...item(model), model }));
    return (await vscode.window.showQuickPick(items, { placeHolder }))?.model;
  }

  /** Whether the model is here in the end. */
  private async have(model: Model): Promise<boolean> {
    return model.present || this.download(model.id);
  }

  /** Fetch a model, and have the server look again; whether it's here. */
  async download(id: string): Promise<boolean> {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: `Downloading ${id}`,
      cancellable: true,
    };
    try {
      await vscode.window.withProgress(options, (progress, token) =>
        this.pull(id, progress, token),
      );
    } catch (error) {
      if (!(error instanceof Stopped)) await this.complain(id, error);
      return false;
    }
    await this.server.reload();
    return true;
  }

  private async pull(
    id: string,
    progress: vscode.Progress<{ message: string; increment: number }>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    let percent = 0;
    let failure: string | undefined;
    const pulling = run(this.server.program, ["models", "pull", "--json", id], {
      token,
      environment: own<Record<string, string>>("server.environment", {}),
      onLine: (line) => {
        const step = parseProgress(line);
        if (step === undefined) {
          this.log.info(line);
          return;
        }
        failure = step.failure;
        const increment = Math.max(step.percent - percent, 0);
        percent += increment;
        progress.report({ message: step.message, increment });
      },
    });
    await pulling.catch((error: unknown) => {
      throw failure === undefined ? error : new Failed(failure);
    });
  }

  private async complain(id: string, error: unknown): Promise<void> {
    const text = error instanceof Failed ? error.message : String(error);
    this.log.error(text);
    const again = "Try Again";
    const said = `${id} couldn't be downloaded: ${text}`;
    if ((await vscode.window.showErrorMessage(said, again)) === again) await this.download(id);
  }
}

function item(model: Model): vscode.QuickPickItem {
  return {
    label: `${model.current ? "$(check) " : ""}${model.name}`,
    description: `${inWords(model.bytes)}, ${model.licence}`,
    detail: model.present ? "on this machine" : "is downloaded when you choose it",
  };
}
