import * as encoding from 'lib0/encoding'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import { partsOfClient, StepMeter, type Steps } from '../outline.ts'
import type { AttributedRange, Attribution } from './attribution.ts'

/**
 * Encodes the ids of selected origins as a `ContentMap`, as `encodeContentMap` of Yjs 14 does (@y/y 14.0.0-rc.7 to
 * rc.22), in steps between which other work can run. The attributes are those of y/hub: `insert` and `delete` are the
 * user, `insertAt` and `deleteAt` the time in epoch milliseconds, and `insert:name` a text of the data of the change.
 * Ids without a known time are left out.
 */
export function* encodeContentMapSteps(
  { inserted, deleted }: Attribution,
  isSelected: (origin: ChangeOrigin) => boolean,
): Steps<Uint8Array> {
  const encoder = encoding.createEncoder()
  yield* writeIdMap(encoder, 'insert', inserted, isSelected)
  yield* writeIdMap(encoder, 'delete', deleted, isSelected)
  return encoding.toUint8Array(encoder)
}

/**
 * Writes an `IdMap`. Clients and clocks are differences from their predecessors. An attribute, and a name of attributes,
 * is written once, and is a number afterwards.
 */
function* writeIdMap(
  encoder: encoding.Encoder,
  verb: 'insert' | 'delete',
  lists: Attribution['inserted'],
  isSelected: (origin: ChangeOrigin) => boolean,
): Steps<void> {
  const selected: (readonly [client: number, ranges: readonly AttributedRange[]])[] = []
  const step = new StepMeter()
  for (const [client, ranges] of lists) {
    const found = ranges.filter(({ origin }) => origin.at > 0 && isSelected(origin))
    if (found.length > 0) selected.push([client, found])
    if (step.isOver(partsOfClient)) yield
  }
  const [attributes, names] = [new Map<string, number>(), new Map<string, number>()]
  const writeNumber = (numbers: Map<string, number>, key: string): 'known' | 'new' => {
    const known = numbers.get(key)
    encoding.writeVarUint(encoder, known ?? numbers.size)
    if (known === undefined) numbers.set(key, numbers.size)
    return known === undefined ? 'new' : 'known'
  }
  encoding.writeVarUint(encoder, selected.length)
  let before = 0
  for (const [client, ranges] of selected.sort(([a], [b]) => a - b)) {
    encoding.writeVarUint(encoder, client - before)
    encoding.writeVarUint(encoder, ranges.length)
    before = client
    let end = 0
    for (const { clock, length, origin } of ranges) {
      encoding.writeVarUint(encoder, clock - end)
      encoding.writeVarUint(encoder, length - 1)
      end = clock + length
      const found = attributesOf(origin, verb)
      encoding.writeVarUint(encoder, found.length)
      for (const [name, value] of found) {
        if (writeNumber(attributes, JSON.stringify([name, value])) === 'known') continue
        if (writeNumber(names, name) === 'new') encoding.writeVarString(encoder, name)
        encoding.writeAny(encoder, value)
      }
      if (step.isOver(1)) yield
    }
  }
}

const attributesOf = (
  origin: ChangeOrigin,
  verb: string,
): readonly (readonly [name: string, value: string | number])[] => [
  ...(origin.by === '' ? [] : [[verb, origin.by] as const]),
  [`${verb}At`, origin.at],
  ...textsOf(origin).map(([name, value]) => [`${verb}:${name}`, value] as const),
]

/** Returns the texts in the data of a change. y/hub has no other values. */
export const textsOf = ({ meta }: Pick<ChangeOrigin, 'meta'>): readonly (readonly [string, string])[] =>
  Object.entries(meta ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
