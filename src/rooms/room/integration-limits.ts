/**
 * Maximum steps of Yjs (`update/integration.ts`) that an event loop spends on the conflict scans and splits
 * of one update. A step takes about 14 ns, so this is 7 ms. A thread integrates an update that needs more
 * steps.
 */
export const loopStepsMax = 500_000

/** Maximum steps for one document in a tick of the event loop. Further updates wait for the next tick. */
export const tickStepsMax = 1_000_000

/**
 * Maximum steps that an event loop spends on an update after a thread has found the positions of its items.
 * Only splits remain.
 */
export const integrationStepsMax = 5_000_000

/**
 * Maximum steps that an event loop spends to read a document of this size: at least 28 ms. A thread reads a
 * document that needs more steps.
 */
export const loadStepsMax = (bytes: number): number => 2_000_000 + 4 * bytes

/**
 * Maximum steps to read a document of this size on a thread: at least 0.3 s. An update after which the
 * document would need more steps is rejected. Two clients that are both offline and each insert 4,500 items
 * at the start of the document need that many steps.
 */
export const documentStepsMax = (bytes: number): number => 20_000_000 + 64 * bytes

/**
 * Maximum structs of an update whose steps an event loop predicts, which takes up to 20 ms. A larger update
 * counts as expensive and is always integrated on a thread.
 */
export const predictedStructsMax = 8_000
