import { expect, it } from 'vitest'
import { configOfValues } from '../../../src/core/config/read-config.ts'
import { threadJobMsOf } from '../../../src/server/limits-from-config.ts'

it.each([
  [1, 20_000],
  [64, 20_000],
  [128, 40_000],
  [1024, 320_000],
])('[ROOM-66] with documents of at most %d MiB, stops work on a thread after %d ms', (mebibytes, ms) => {
  expect(threadJobMsOf(configOfValues({ maxDocumentBytes: mebibytes * 2 ** 20 }))).toBe(ms)
})
