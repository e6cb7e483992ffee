import { decodeKey, encodeKey, encodeNumber, splitKey } from '../key-encoding.ts'
import { keyspaces, under } from './keyspaces.ts'

/** Length in bytes of the time in a key. */
export const dueTimeBytes = 8

/** Returns the key of a job in the index of due times. */
export const dueKey = (queue: string, at: number, id: string): Buffer =>
  Buffer.concat([dueSpace(queue), encodeNumber(at), encodeKey([id])])

/** Returns the prefix of the keys of a queue in the index of due times. */
export const dueSpace = (queue: string): Buffer => under(keyspaces.due, encodeKey([queue]))

/**
 * Returns the queue and the id that a key of the index of due times contains (see `dueKey`).
 * @throws RangeError for any other key
 */
export function readDueKey(key: Buffer): { readonly queue: string; readonly id: string } {
  const [[queue = ''], rest] = splitKey(key.subarray(keyspaces.due.length))
  const [id = ''] = decodeKey(rest.subarray(dueTimeBytes))
  return { queue, id }
}
