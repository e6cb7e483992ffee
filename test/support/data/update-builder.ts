import * as encoding from 'lib0/encoding'

/** Builds updates (V1) struct by struct. The running time is linear in their size. */

export interface Id {
  readonly client: number
  readonly clock: number
}

/** Place of an item. It consists of the origins of the item. An item without origins has a parent. */
export interface Place {
  readonly left?: Id
  readonly right?: Id
  /** Name of the root, or id of the item that contains the parent type. */
  readonly parent?: string | Id
  readonly key?: string
}

type Content = (encoder: encoding.Encoder) => void
export type Struct = (encoder: encoding.Encoder) => void

export interface Block {
  readonly client: number
  readonly from: number
  readonly structs: readonly Struct[]
}

type Ranges = readonly (readonly [clock: number, length: number])[]
export type Deletions = readonly (readonly [client: number, ranges: Ranges])[]

export const id = (client: number, clock: number): Id => ({ client, clock })

export const list = <T>(length: number, at: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => at(index))

export function writeId(encoder: encoding.Encoder, { client, clock }: Id): void {
  encoding.writeVarUint(encoder, client)
  encoding.writeVarUint(encoder, clock)
}

export const contents = {
  deleted: (length: number): Content & { readonly kind: number } =>
    kindOf(1, (encoder) => encoding.writeVarUint(encoder, length)),
  text: (text: string) => kindOf(4, (encoder) => encoding.writeVarString(encoder, text)),
  format: (key: string, value: unknown) =>
    kindOf(6, (encoder) => {
      encoding.writeVarString(encoder, key)
      encoding.writeVarString(encoder, JSON.stringify(value))
    }),
  embed: kindOf(5, (encoder) => encoding.writeVarString(encoder, '1')),
  /** Content with a new type: 0 is Y.Array, 1 is Y.Map, and 2 is Y.Text. */
  type: (type: 0 | 1 | 2) => kindOf(7, (encoder) => encoding.writeVarUint(encoder, type)),
  /** Content with `count` values, all of which are null. */
  values: (count: number) =>
    kindOf(8, (encoder) => {
      encoding.writeVarUint(encoder, count)
      for (let index = 0; index < count; index++) encoding.writeUint8(encoder, 126)
    }),
}

function kindOf(kind: number, content: Content): Content & { readonly kind: number } {
  return Object.assign((encoder: encoding.Encoder) => content(encoder), { kind })
}

export type KnownContent = ReturnType<typeof kindOf>

export const item =
  ({ left, right, parent, key }: Place, content: KnownContent): Struct =>
  (encoder) => {
    const flags = (left ? 0x80 : 0) | (right ? 0x40 : 0) | (key === undefined ? 0 : 0x20)
    encoding.writeUint8(encoder, content.kind | flags)
    if (left) writeId(encoder, left)
    if (right) writeId(encoder, right)
    if (!left && !right) {
      encoding.writeVarUint(encoder, typeof parent === 'object' ? 0 : 1)
      if (typeof parent === 'object') writeId(encoder, parent)
      else encoding.writeVarString(encoder, parent ?? 't')
      if (key !== undefined) encoding.writeVarString(encoder, key)
    }
    content(encoder)
  }

export const skip =
  (length: number): Struct =>
  (encoder) => {
    encoding.writeUint8(encoder, 10)
    encoding.writeVarUint(encoder, length)
  }

export function updateOf(blocks: readonly Block[], deletions: Deletions = []): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, blocks.length)
  for (const { client, from, structs } of blocks) {
    encoding.writeVarUint(encoder, structs.length)
    writeId(encoder, id(client, from))
    for (const struct of structs) struct(encoder)
  }
  encoding.writeVarUint(encoder, deletions.length)
  for (const [client, ranges] of deletions) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ranges.length)
    for (const [clock, length] of ranges) writeId(encoder, id(clock, length))
  }
  return encoding.toUint8Array(encoder)
}

export const block = (client: number, structs: readonly Struct[], from = 0): Block => ({
  client,
  from,
  structs,
})
