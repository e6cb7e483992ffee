import { PassThrough } from 'node:stream'
import { array, assert, asyncProperty, constant, integer, nat, oneof, record, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { RecordReader, workerRecords } from '../../../../src/sync/workers/ipc-records.ts'
import { RecordWriter } from '../../../../src/sync/workers/record-writer.ts'

interface Said {
  readonly kind: number
  readonly id: number
  readonly body: string
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** All bytes that `say` makes an outbox write, in one turn. */
async function bytesOf(say: (outbox: RecordWriter) => void): Promise<Buffer> {
  const stream = new PassThrough({ highWaterMark: 2 ** 24 })
  say(new RecordWriter(stream))
  await nextTurn()
  const bytes: unknown = stream.read()
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}

/** What is made of bytes that come in pieces of these lengths, again and again. */
function read(bytes: Buffer, lengths: readonly number[]): Said[] {
  const said: Said[] = []
  const reader = new RecordReader((kind, id, body) => said.push({ kind, id, body: body.toString('latin1') }))
  let at = 0
  for (let index = 0; at < bytes.length; index++) {
    const length = lengths[index % lengths.length] as number
    reader.push(bytes.subarray(at, at + length))
    at += length
  }
  return said
}

/** What each of the sockets is told, with shared frames given to everyone they are for. */
function bySocket(said: readonly Said[]): Map<number, string[]> {
  const told = new Map<number, string[]>()
  const tell = (id: number, what: string): void => void told.set(id, [...(told.get(id) ?? []), what])
  for (const { kind, id, body } of said) {
    if (kind !== workerRecords.share) tell(id, `${kind}:${body}`)
    else {
      const ids = Buffer.from(body.slice(0, id * 4), 'latin1')
      for (let at = 0; at < ids.length; at += 4)
        tell(ids.readUInt32LE(at), `${workerRecords.write}:${body.slice(id * 4)}`)
    }
  }
  return told
}

/** Small bodies, and a few of about the size from which on they are not copied. */
const body = oneof(
  uint8Array({ maxLength: 40 }),
  integer({ min: 16_380, max: 16_390 }).map((length) => new Uint8Array(length).fill(length % 256)),
)
const cuts = array(integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 10 })
const wideCuts = array(integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 10 })

it('[WORK-1] records arrive as they were said, however the stream is cut', async () => {
  const said = record({ kind: nat(255), id: nat(2 ** 32 - 1), body })
  await assert(
    asyncProperty(array(said, { maxLength: 12 }), oneof(cuts, wideCuts), async (records, lengths) => {
      const bytes = await bytesOf((outbox) => {
        for (const each of records) outbox.add(each.kind, each.id, each.body)
      })
      const expected = records.map((each) => ({ ...each, body: Buffer.from(each.body).toString('latin1') }))
      expect(read(bytes, lengths)).toEqual(expected)
    }),
  )
})

it('[WORK-1] what is shared arrives in the order of each socket', async () => {
  const step = record({ socket: nat(4), what: oneof(nat(3), constant('ping' as const)) })
  await assert(
    asyncProperty(
      array(step, { maxLength: 60 }),
      array(body, { minLength: 4, maxLength: 4 }),
      wideCuts,
      async (steps, frames, lengths) => {
        const sockets = [0, 1, 2, 3, 4].map((id) => ({ id, lastEntry: 0 }))
        const expected = new Map<number, string[]>()
        const bytes = await bytesOf((outbox) => {
          for (const { socket, what } of steps) {
            const to = sockets[socket] as (typeof sockets)[number]
            const told = expected.get(socket) ?? []
            expected.set(socket, told)
            if (what === 'ping') {
              outbox.addTo(to, workerRecords.ping)
              told.push(`${workerRecords.ping}:`)
            } else {
              outbox.share(to, frames[what] as Uint8Array)
              told.push(
                `${workerRecords.write}:${Buffer.from(frames[what] as Uint8Array).toString('latin1')}`,
              )
            }
          }
        })
        expect(bySocket(read(bytes, lengths))).toEqual(expected)
      },
    ),
  )
})

it('[WORK-1] frames for many go over once a turn, also where one of them gets something else between', async () => {
  const frames = new Uint8Array(1_000)
  const bytes = await bytesOf((outbox) => {
    for (let id = 1; id <= 100; id++) {
      const to = { id, lastEntry: 0 }
      if (id % 10 === 0) outbox.share(to, Uint8Array.of(id))
      else outbox.share(to, frames)
    }
  })
  expect(bytes.length).toBeLessThan(2_000)
  expect(bySocket(read(bytes, [bytes.length])).size).toBe(100)
})
