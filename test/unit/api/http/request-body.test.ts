import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { bodyValuesMax, readRequestData } from '../../../../src/rest/http/request-body.ts'

const meter = { count: () => {}, keep: () => {}, complete: () => {} }

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
