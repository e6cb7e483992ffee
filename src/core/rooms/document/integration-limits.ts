import { structsOfClient } from '../../update/split-update.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/**
 * Maximum steps of Yjs (`core/update/integration.ts`) that an event loop spends on the conflict scans and splits
 * of one update. A step takes about 14 ns, so this is 7 ms. A thread integrates an update that needs more
 * steps.
 */
export const loopStepsMax = 500_000

/**
 * Maximum steps that one document may take in a tick of the event loop. Further updates wait for the next
 * tick.
 */
export const tickStepsMax = 1_000_000

/**
 * Maximum steps that an event loop spends on an update after a thread has found the positions of its items.
 * At that time only splits remain, and no conflict scans.
 */
export const integrationStepsMax = 5_000_000

/**
 * Maximum steps that an event loop spends to create the Y.Doc of a document with this number of bytes (28 ms
 * for an empty document). A thread reads a document that needs more steps.
 */
export const loadStepsMax = (bytes: number): number => 2_000_000 + 4 * bytes

/**
 * Maximum steps that a thread spends to create the Y.Doc of a document with this number of bytes (0.3 s for
 * an empty document). An update after which the document would need more steps is rejected. This happens, for
 * example, if two offline clients each insert 4,500 items at the start of the document.
 */
export const documentStepsMax = (bytes: number): number => 20_000_000 + 64 * bytes

/**
 * Maximum number of structs, and maximum number of deleted ranges, in an update for which an event loop
 * predicts the steps. To predict, integrate and encode 4,000 structs takes up to 20 ms.
 */
const predictedStructsMax = 4_000
const predictedDeletesMax = 4_000

/** Returns whether an update counts as expensive without a prediction. It is always integrated on a thread. */
export const isTooLargeToPredict = ({ structs, deletes }: UpdateSummary): boolean =>
  structs > predictedStructsMax || deletes > predictedDeletesMax

/**
 * Numbers of deleted ranges in an offer for which an event loop looks up which of them the document has. The handshake
 * of a client repeats all deletions of the document, so a thread would often integrate nothing. 40,000 lookups take 8 ms.
 */
const lookedUpDeletesMin = 200
const lookedUpDeletesMax = 40_000

/** Returns whether an event loop looks up the deletions of an offer before it predicts the steps. */
export const isWorthLookingUp = ({ structs, deletes, deletesInOrder }: UpdateSummary): boolean =>
  deletesInOrder &&
  structs <= predictedStructsMax &&
  deletes >= lookedUpDeletesMin &&
  deletes <= lookedUpDeletesMax

/**
 * Maximum number of structs, or of deleted ranges, that an event loop reads in one tick to create the Y.Doc of a
 * document. Yjs takes up to 5 µs for one, so this is 20 ms.
 */
export const structsPerTick = 4_000

/** Number of bytes from which a part of a document ends that an event loop reads in one tick. */
export const bytesPerTick = 2_000_000

/**
 * Number of structs, and of bytes, after which a slice ends in which an event loop encodes a document. Yjs takes up to
 * 0.5 µs for a struct, and 2 ms for the strings of a megabyte.
 */
export const encodedPerSlice = { structs: 10_000, bytes: 1_000_000 } as const

/**
 * Maximum number of updates in one transaction of Yjs, also of a load or a tick. Larger transactions are not faster,
 * and they are slow if adjacent items merge, because Yjs joins lists of values pairwise at the end of a transaction.
 * For example, 4,000 pushes of 30 numbers take 5.8 s in one transaction, and 52 ms with this limit.
 */
export const updatesPerTransaction = 64

/** Maximum bytes of several updates that a thread integrates in one job, which takes it up to a second. All are sent at once. */
export const batchBytesMax = 4_000_000

/** Returns the structs and deleted ranges of an update. A client counts as in the parts of `splitUpdate`. */
export const partsOf = ({ structs, deletes, clients }: UpdateSummary): number =>
  structs + deletes + structsOfClient * clients.length

/**
 * Maximum number of parts (`partsOf`) of an update that an event loop applies, in one tick, after a thread has
 * integrated it into a document that then has `structs`. After a larger update, the event loop takes the whole state
 * from the thread, and reads it in several ticks when it needs the Y.Doc. That takes longer if the update is a small part
 * of the document.
 */
export const placedPartsMax = (structs: number): number =>
  Math.min(Math.max(structsPerTick, structs / 4), 16_000)
