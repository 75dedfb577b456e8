/** Time and randomness, so that tests decide them. */
export interface Environment {
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Waits for this number of milliseconds, or rejects with the reason of the signal. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const system: Environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", abort, { once: true });
    }),
};

/** The result of work that others wait for, too: the signal ends this wait, and not the work. */
export async function shared<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  // Every waiting call may have been aborted before the work fails.
  work.catch(() => undefined);
  if (signal === undefined) {
    return work;
  }
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The text of a UUID. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A UUID, also in pages without TLS, which have no `crypto.randomUUID`. */
export function newUuid(): string {
  if (typeof crypto.randomUUID === "function") {
    return crypto.randomUUID();
  }
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const variant = (((bytes[8] ?? 0) & 0x3f) | 0x80).toString(16);
  const version = `4${hex.slice(13, 16)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), version, `${variant}${hex.slice(18, 20)}`, hex.slice(20)].join("-");
}
