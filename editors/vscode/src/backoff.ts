// How long to wait before the server is started again.

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
const MOST_CRASHES = 3;
const SHORT_TIME_MS = 180_000;

/** Counts crashes: waits twice as long each time, and gives up at the third in three minutes. */
export class Backoff {
  private crashes: number[] = [];

  /** The server crashed at `now`. Milliseconds to wait, or undefined: give up. */
  crashed(now: number): number | undefined {
    this.crashes = [...this.crashes.filter((then) => now - then < SHORT_TIME_MS), now];
    const recent = this.crashes.length;
    if (recent >= MOST_CRASHES) return undefined;
    return Math.min(FIRST_MS * 2 ** (recent - 1), LONGEST_MS);
  }

  /** A person started the server: what was before doesn't count. */
  forget(): void {
    this.crashes = [];
  }
}
