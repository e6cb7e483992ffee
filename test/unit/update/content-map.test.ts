import { expect, it } from 'vitest'
import type { ChangeOrigin } from '../../../src/core/model/change-origin.ts'
import { encodeContentMapSteps } from '../../../src/core/update/attribution/content-map.ts'
import { runSteps } from '../../../src/core/update/outline.ts'

const ada: ChangeOrigin = { by: 'ada', at: 1_700_000_000_000, source: 'socket', meta: null }
const grace: ChangeOrigin = {
  by: 'grace',
  at: 1_700_000_060_000,
  source: 'rest',
  meta: { type: 'version', page: 3 },
}
const nobody: ChangeOrigin = { ...ada, by: '' }
const unknown: ChangeOrigin = { ...nobody, at: 0 }

/** Bytes that `encodeContentMap` of @y/y 14.0.0-rc.7 returns for the same ids and attributes. */
const encodedByYjs14 =
  'AgcDAAQCAAAGaW5zZXJ0dwNhZGEBAQhpbnNlcnRBdHtCeLz+VoAAAAABAwIAdwVncmFjZQMBe0J4vP5lJgAABAILaW5zZXJ0OnR5' +
  'cGV3B3ZlcnNpb24CAAIAAfn///////8HAQOrAgEBAQcBAQEDAAAGZGVsZXRldwVncmFjZQEBCGRlbGV0ZUF0e0J4vP5lJgAAAgILZGVsZXRlOnR5cGV3B3ZlcnNpb24='

it('[ATT-120] encodes the authors of ids as Yjs 14 does, without ids of unknown origin', () => {
  const attribution = {
    inserted: new Map([
      [4_503_599_627_370_496, [{ clock: 3, length: 300, origin: nobody }]],
      [3, [{ clock: 0, length: 4, origin: unknown }]],
      [
        7,
        [
          { clock: 0, length: 5, origin: ada },
          { clock: 5, length: 2, origin: grace },
          { clock: 7, length: 2, origin: unknown },
          { clock: 9, length: 1, origin: ada },
        ],
      ],
    ]),
    deleted: new Map([[7, [{ clock: 1, length: 2, origin: grace }]]]),
  }
  const bytes = runSteps(encodeContentMapSteps(attribution, () => true))
  expect(Buffer.from(bytes).toString('base64')).toBe(encodedByYjs14)
})
