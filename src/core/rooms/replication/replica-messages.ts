import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { LogUpdate } from '../../store/engine.ts'
import type { AppendNotice } from '../log/read-log-since.ts'

/** A message between nodes about one document. */
export type ReplicaMessage =
  | { readonly is: 'appended'; readonly notice: AppendNotice }
  /** The log has changed in a way that is not an append, for example because it was deleted. */
  | { readonly is: 'changed' }
  /**
   * The sending node makes a change that requires an unchanged document. The other nodes let their arriving
   * updates wait for at most `ms` milliseconds.
   */
  | { readonly is: 'wait'; readonly ms: number }

/** Returns the members of a message without its updates, for a trace. */
export function describeMessage(message: ReplicaMessage): Readonly<Record<string, string | number>> {
  if (message.is === 'wait') return { message: 'wait', ms: message.ms }
  if (message.is === 'changed') return { message: 'changed' }
  const { epoch, first, last, updates } = message.notice
  return { message: 'appended', epoch, first, last, bytes: sizeOf(updates ?? []) }
}

/**
 * Maximum bytes of updates and user ids in one message. A larger notice contains only the sequence numbers.
 */
const noticeBytesMax = 65_536

const kinds = ['appended', 'changed', 'wait'] as const

/**
 * Encodes a message for the bus.
 * @param name the name of the document, as `keyName` returns it
 */
export function encodeMessage(name: string, message: ReplicaMessage): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, kinds.indexOf(message.is))
  encoding.writeVarString(encoder, name)
  if (message.is === 'wait') encoding.writeVarUint(encoder, message.ms)
  if (message.is === 'appended') writeNews(encoder, message.notice)
  return encoding.toUint8Array(encoder)
}

function writeNews(encoder: encoding.Encoder, { epoch, first, last, at, updates }: AppendNotice): void {
  for (const number of [epoch, first, last, at]) encoding.writeVarUint(encoder, number)
  const included = updates !== null && sizeOf(updates) <= noticeBytesMax ? updates : []
  for (const { by, bytes } of included) {
    encoding.writeVarString(encoder, by)
    encoding.writeVarUint8Array(encoder, bytes)
  }
}

/**
 * Decodes a message from the bus. Returns null if the message is malformed (possibly from another version of
 * Weft), or if `wanted` returns false for the name of its document.
 */
export function decodeMessage(
  bytes: Uint8Array,
  wanted: (name: string) => boolean = () => true,
): { readonly name: string; readonly message: ReplicaMessage } | null {
  try {
    const decoder = decoding.createDecoder(bytes)
    const is = kinds[decoding.readVarUint(decoder)]
    const name = decoding.readVarString(decoder)
    if (!wanted(name)) return null
    if (is === 'appended') return { name, message: { is, notice: readNews(decoder) } }
    if (is === 'wait') return { name, message: { is, ms: decoding.readVarUint(decoder) } }
    return is === undefined ? null : { name, message: { is } }
  } catch {
    return null
  }
}

function readNews(decoder: decoding.Decoder): AppendNotice {
  const epoch = decoding.readVarUint(decoder)
  const first = decoding.readVarUint(decoder)
  const last = decoding.readVarUint(decoder)
  const at = decoding.readVarUint(decoder)
  const updates: LogUpdate[] = []
  while (decoding.hasContent(decoder)) {
    const by = decoding.readVarString(decoder)
    updates.push({ by, bytes: decoding.readVarUint8Array(decoder) })
  }
  return { epoch, first, last, at, updates: updates.length === last - first + 1 ? updates : null }
}

const sizeOf = (updates: readonly LogUpdate[]): number =>
  updates.reduce((sum, { by, bytes }) => sum + by.length + bytes.length, 0)
