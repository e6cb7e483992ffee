import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { bodyValuesMax, readRequestData } from '../../../../src/rest/http/request-body.ts'

/** Number of turns of the event loop that all bodies have taken. */
let turns = 0
const meter = {
  count: () => {},
  keep: () => {},
  complete: () => {},
  turn: async () => {
    turns += 1
    await nextTick()
  },
}

/** Reads a body that arrives in the given pieces. */
function read(pieces: readonly Uint8Array[]): Promise<unknown> {
  const stream = Readable.from(pieces, { objectMode: false })
  const request = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage
  return readRequestData(request, 4_000_000, meter).then(({ data }) => data)
}

it('[API-5] reads a body whose characters arrive in any pieces', async () => {
  const data = { text: 'aé€😀', filler: 'x'.repeat(300_000) }
  const body = Buffer.from(JSON.stringify({ data }))
  for (let at = 0; at <= 40; at++)
    expect(await read([body.subarray(0, at), body.subarray(at, at + 1), body.subarray(at + 1)])).toEqual(data)
})

it('[API-5] rejects a body that ends inside a character, or whose second piece is not UTF-8', async () => {
  const start = Buffer.from('{"data":{"text":"')
  for (const pieces of [[Uint8Array.of(0xe2, 0x82)], [Uint8Array.of(0xff), Buffer.from('"}}')]])
    await expect(read([start, ...pieces])).rejects.toThrow(/not UTF-8/)
})

it('[API-5] rejects a body with too many small values before it parses them', async () => {
  const bodyOf = (commas: number, end: string): Uint8Array =>
    Buffer.from(`{"data":{"list":[${'1,'.repeat(commas)}${end}`)
  // The body has three arrays and objects.
  await expect(read([bodyOf(bodyValuesMax - 3, '1]}}')])).resolves.toHaveProperty('list')
  await expect(read([bodyOf(bodyValuesMax - 2, 'no JSON')])).rejects.toThrow(/split the call/)
})

it('[API-70] lets other work run while it parses a large body, and finds the problem of one', async () => {
  const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name ${index}`, index]))
  const body = JSON.stringify({ data: names })
  let ticks = 0
  let isDone = false
  const tick = (): void => {
    ticks += 1
    if (!isDone) setImmediate(tick)
  }
  setImmediate(tick)
  expect(await read([Buffer.from(body)])).toEqual(names)
  isDone = true
  expect(ticks).toBeGreaterThan(20)
  await expect(read([Buffer.from(`${body.slice(0, -2)},}}`)])).rejects.toThrow(`not JSON at 1:${body.length}`)
})

it('[API-70] takes a turn for each 262,144 characters that it measures, up to the limit of values', async () => {
  const bodyOf = (commas: number): Buffer => Buffer.from(`{"data":{"list":[${'1,'.repeat(commas)}1]}}`)
  turns = 0
  await expect(read([bodyOf(1_900_000)])).rejects.toThrow(/split the call/)
  expect(turns).toBe(1 + Math.ceil((2 * bodyValuesMax) / 262_144) - 1)
})

it('[API-70] takes a turn for each 262,144 characters in which it searches brackets, and for each piece that it parses', async () => {
  const body = JSON.stringify({ data: { list: Array.from({ length: 1_000_000 }, () => 1) } })
  turns = 0
  await read([Buffer.from(body)])
  const [scans, pieces] = [body.length / 262_144, body.length / 65_536]
  expect(turns).toBeGreaterThan(2 * Math.floor(scans) + Math.floor(pieces))
})
