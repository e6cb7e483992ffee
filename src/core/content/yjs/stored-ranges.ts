import * as Y from 'yjs'
import type { SharedRoot } from './root-kind.ts'

/** A range of consecutive ids of one client. */
interface IdRun {
  readonly client: number
  readonly clock: number
  readonly length: number
}

/** Deletes the content with these ids. Content that is already deleted stays deleted. */
export function deleteIds(transaction: Y.Transaction, { client, clock, length }: IdRun): void {
  const end = clock + length
  for (let at = clock; at < end; ) {
    const item: Y.Item = Y.getItemCleanStart(transaction, Y.createID(client, at))
    if (at + item.length > end) Y.getItemCleanStart(transaction, Y.createID(client, end))
    if (!item.deleted) item.delete(transaction)
    at = item.id.clock + item.length
  }
}

/** Returns the ids of the content between two indexes of a sequence. Ranges that follow each other are joined. */
export function idsBetween(type: SharedRoot, start: number, end: number): readonly IdRun[] {
  const ranges: { client: number; clock: number; length: number }[] = []
  let index = 0
  for (let item = type._start; item !== null && index < end; item = item.right) {
    if (item.deleted || !item.countable) continue
    const from = Math.max(0, start - index)
    const to = Math.min(item.length, end - index)
    index += item.length
    if (from >= to) continue
    const last = ranges.at(-1)
    const { client, clock } = item.id
    if (last?.client === client && last.clock + last.length === clock + from) last.length += to - from
    else ranges.push({ client, clock: clock + from, length: to - from })
  }
  return ranges
}
