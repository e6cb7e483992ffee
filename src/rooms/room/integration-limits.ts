/**
 * Steps of Yjs (`update/integration.ts`), of about 14 ns each, that an event loop spends on the conflict scans and
 * splits of one update: 7 ms. A thread integrates an update that needs more.
 */
export const loopStepsMax = 500_000

/** Steps that one document may take in a tick of the event loop. Further updates wait for the next tick. */
export const tickStepsMax = 1_000_000

/** Steps that an event loop spends on an update whose items a thread has placed. Only splits remain. */
export const integrationStepsMax = 5_000_000

/**
 * Steps that an event loop spends to read a document of this size: from 28 ms. A thread reads a document that needs
 * more.
 */
export const loadStepsMax = (bytes: number): number => 2_000_000 + 4 * bytes

/**
 * Steps that reading a document of this size may take on a thread, from 0.3 s: an update that would make it more is
 * rejected. Two clients that each insert 4,500 items before all others, both offline, need that many.
 */
export const documentStepsMax = (bytes: number): number => 20_000_000 + 64 * bytes

/**
 * Structs of an update whose steps an event loop predicts, in up to 20 ms. A larger update counts as expensive: a thread
 * integrates it in any case.
 */
export const predictedStructsMax = 8_000
