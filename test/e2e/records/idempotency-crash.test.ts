import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { times } from '../../support/time/full-run.ts'

const rounds = times(1, 8)
const atOnce = 8
const document = { organizationId: 'acme', documentId: 'report' }
const thread = { ...document, annotationId: 'remark' }
const actionUser = { userId: 'ann' }

const kinds = ['comment', 'title', 'judgment'] as const
type Kind = (typeof kinds)[number]

/** A call with an idempotency key. The key is also its text, so that its effects can be counted. */
interface Keyed {
  readonly key: string
  readonly kind: Kind
  answered: boolean
}

const start = (data: string): Promise<ServerProcess> => startProcess(data, { WEFT_CALLS_PER_KEY: '0' })

const send = (server: ServerProcess, { key, kind }: Keyed) => {
  const headers = { 'idempotency-key': key }
  if (kind === 'comment') {
    const data = { ...thread, actionUser, comments: [{ from: actionUser, text: key }] }
    return server.post('/v2/commentannotations/comments/add', data, headers)
  }
  if (kind === 'judgment') {
    const data = { query: key, decision: 'approve', reviewerId: key }
    return server.post('/v2/memory/judgments/add', data, headers)
  }
  const documents = [{ documentId: 'report', documentName: `name of ${key}` }]
  return server.post('/v2/organizations/documents/update', { organizationId: 'acme', documents }, headers)
}

/** Makes one call after another until the server ends. */
async function work(server: ServerProcess, name: string, calls: Keyed[]): Promise<void> {
  for (let at = 0; ; at++) {
    const call: Keyed = { key: `${name}-${at}`, kind: kinds[at % 3] ?? 'comment', answered: false }
    calls.push(call)
    try {
      call.answered = (await send(server, call)).status === 200
    } catch {
      return
    }
  }
}

/** Returns the texts of all comments. */
async function comments(server: ServerProcess): Promise<readonly string[]> {
  const texts: string[] = []
  let token: string | undefined
  do {
    const page = { ...thread, pageSize: 100, ...(token !== undefined && { pageToken: token }) }
    const { data, pageToken } = await server.post('/v2/commentannotations/comments/get', page)
    for (const [, text] of JSON.stringify(data).matchAll(/"text":"([^"]*)"/g)) texts.push(text as string)
    token = pageToken
  } while (token !== undefined)
  return texts
}

/** Returns the number of judgments of a call. */
async function judgments(server: ServerProcess, { key }: Keyed): Promise<number> {
  const { data } = await server.post('/v2/memory/judgments/query', { reviewerId: key })
  return (data as readonly unknown[]).length
}

async function newThread(server: ServerProcess): Promise<void> {
  await server.post('/v2/commentannotations/delete', { ...document, actionUser, annotationIds: ['remark'] })
  const annotations = [{ annotationId: 'remark' }]
  const flags = { createOrganization: true, createDocument: true }
  await server.post('/v2/commentannotations/add', { ...document, actionUser, annotations, ...flags })
}

it(`[IDEM-8] after ${rounds} SIGKILLs, a repeated call adds a comment once, adds a judgment at most once, or reports an unknown outcome (seed ${seed})`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-idempotency-'))
  const counts = { replayed: 0, again: 0, unknown: 0 }
  try {
    let server = await start(data)
    for (let round = 0; round < rounds; round++) {
      await newThread(server)
      const calls: Keyed[] = []
      const working = Array.from({ length: atOnce }, (_, at) => work(server, `r${round}-${at}`, calls))
      await new Promise((resolve) => setTimeout(resolve, 100 + random.below(300)))
      await server.end('SIGKILL')
      await Promise.all(working)
      server = await start(data)
      for (const call of calls) {
        const { status, data: answer, details, replayed } = await send(server, call)
        if (status === 200) counts[replayed ? 'replayed' : 'again'] += 1
        else {
          expect([call.kind, call.answered, status, details], call.key).toEqual([
            'judgment',
            false,
            409,
            { outcome: 'unknown', code: 'idempotency/outcome-unknown' },
          ])
          counts.unknown += 1
          continue
        }
        expect(JSON.stringify(answer), call.key).not.toContain('"success":false')
        // A call that was answered before the kill was stored before its answer.
        if (call.answered) expect(replayed, call.key).toBe(true)
      }
      const keys = calls.filter(({ kind }) => kind === 'comment').map(({ key }) => key)
      expect([...(await comments(server))].sort(), `seed ${seed}`).toEqual(keys.sort())
      for (const call of calls.filter(({ kind }) => kind === 'judgment')) {
        const least = call.answered ? 1 : 0
        expect([least, 1], call.key).toContain(await judgments(server, call))
      }
    }
    console.log(`calls made again after ${rounds} SIGKILLs: ${JSON.stringify(counts)}`)
    await server.end('SIGTERM')
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
})
