import * as Y from 'yjs'
import type { ChangeOrigin } from '../../../src/core/model/change-origin.ts'
import type { AttributedUpdate } from '../../../src/core/update/attribution/attribution-builder.ts'

/** The origin of each id, by `client:clock`. */
export interface OriginsById {
  readonly inserted: Map<string, ChangeOrigin>
  readonly deleted: Map<string, ChangeOrigin>
}

/**
 * Returns the origin of each id of a log: a model of `AttributionBuilder` that keeps one value for each id, and
 * reads the updates with Yjs.
 */
export function originsById(entries: readonly AttributedUpdate[]): OriginsById {
  const inserted = new Map<string, ChangeOrigin>()
  const deleted = new Map<string, ChangeOrigin>()
  for (const { bytes, by, at, source = 'socket', meta = null } of entries) {
    const origin: ChangeOrigin = { by, at, source, meta }
    const claim = (ids: Map<string, ChangeOrigin>, client: number, clock: number, length: number): void => {
      for (let id = clock; id < clock + length; id++)
        if (!ids.has(`${client}:${id}`)) ids.set(`${client}:${id}`, origin)
    }
    const { structs, ds } = Y.decodeUpdate(bytes)
    for (const struct of structs) {
      if (struct instanceof Y.Skip) continue
      const { client, clock } = struct.id
      claim(inserted, client, clock, struct.length)
      if (struct instanceof Y.GC || struct.content instanceof Y.ContentDeleted)
        claim(deleted, client, clock, struct.length)
    }
    for (const [client, ranges] of ds.clients)
      for (const { clock, len } of ranges) claim(deleted, client, clock, len)
  }
  return { inserted, deleted }
}

/** Returns whether an origin is that of the model. Its time may be that of a change within 5 s. */
export const sameOrigin = (found: ChangeOrigin, model: ChangeOrigin): boolean =>
  found.by === model.by &&
  found.source === model.source &&
  JSON.stringify(found.meta) === JSON.stringify(model.meta) &&
  Math.abs(found.at - model.at) <= 5_000
