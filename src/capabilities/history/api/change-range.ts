import type { DocumentAddress } from '../../../core/model/address.ts'
import { parseVersion } from '../../../core/model/version.ts'
import type { HistoryPoint, HistoryRange } from '../../../core/rooms/history/history-updates.ts'
import type { Services } from '../../../rest/services.ts'
import { invalidAt } from '../../../rest/validator.ts'

/**
 * Reads the two versions of a request. A text that has the form of a version is a version; any other text is the id of
 * a saved version.
 * @throws ApiError NOT_FOUND if a saved version does not exist; INVALID_ARGUMENT if `from` is later than `to`
 */
export async function readRange(
  { from, to }: { readonly from: string; readonly to?: string },
  address: DocumentAddress,
  { versions }: Pick<Services, 'versions'>,
): Promise<HistoryRange> {
  const point = async (text: string): Promise<HistoryPoint> => {
    const version = parseVersion(text)
    if (version !== null) return { version: text, state: null }
    const { record, bytes } = await versions.read(address, text)
    return { version: record.version, state: bytes }
  }
  const [earlier, later] = await Promise.all([point(from), to === undefined ? null : point(to)])
  requireOrder(earlier, later)
  return { from: earlier, to: later }
}

/** @throws ApiError INVALID_ARGUMENT if the earlier version is the later one */
function requireOrder(from: HistoryPoint, to: HistoryPoint | null): void {
  const [start, end] = [parseVersion(from.version), to === null ? null : parseVersion(to.version)]
  if (start !== null && end?.epoch === start.epoch && end.seq < start.seq)
    throw invalidAt({ path: '/data/from', message: 'must not be later than `to`' })
}
