// No suggestions for a while.

const MINUTE_MS = 60_000;
export const SNOOZE_MINUTES = 5;

export class Snooze {
  private until: Date | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** `changed` is called when it begins and when it ends. */
  constructor(private readonly changed: () => void) {}

  get isOn(): boolean {
    return this.until !== undefined;
  }

  /** Until when, as people read it. */
  get words(): string | undefined {
    return this.until?.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }

  begin(): void {
    clearTimeout(this.timer);
    const length = SNOOZE_MINUTES * MINUTE_MS;
    this.until = new Date(Date.now() + length);
    this.timer = setTimeout(() => {
      this.end();
    }, length);
    this.changed();
  }

  end(): void {
    clearTimeout(this.timer);
    this.until = undefined;
    this.changed();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
