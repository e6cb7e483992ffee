import { expect, it } from 'vitest'
import { close } from '../../../src/core/model/close.ts'

it.each([
  ['a whole reason', 'too many calls; try again', 'too many calls; try again'],
  ['the part before the remedy', `too many calls; ${'try again '.repeat(20)}`, 'too many calls'],
  ['as much as fits', 'é'.repeat(200), `${'é'.repeat(40)}…`],
  ['as much as fits of surrogate pairs', '\u{1f600}'.repeat(200), `${'\u{1f600}'.repeat(20)}…`],
])('[ERR-9] fits %s into a close reason of at most 123 bytes', (_what, given, kept) => {
  const { reason } = close('tryAgainLater', given)
  expect(reason).toBe(kept)
  expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
})
