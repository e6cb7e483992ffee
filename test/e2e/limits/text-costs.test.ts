import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { prettyXml } from '../../../src/console/documents/content/content-text.ts'
import { rewriteEdit } from '../../../src/console/playground/playground-document.ts'
import { misspelledName, withoutTrailing } from '../../../src/core/base/text.ts'
import { normalizeText } from '../../../src/core/content/edit/targets/normalized-text.ts'
import { acceptsGzip } from '../../../src/rest/pages/static-file.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { cpuMs } from '../../support/time/clock.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

/** The shortest of three measurements of processor time, because other work of the process only extends them. */
async function shortestMs(work: () => unknown): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let measured = 0; measured < 3; measured++) {
    const start = cpuMs()
    await work()
    shortest = Math.min(shortest, cpuMs() - start)
  }
  return shortest
}

/** Four times the text may cost at most ten times the time; work below this is not measurable. */
const measurableMs = 300
const growthMax = 10

/** Texts on which a backtracking matcher takes quadratic time, by length. */
const shapes: Readonly<Record<string, (length: number) => unknown>> = {
  'spaces in an encoding': (length) => acceptsGzip(`gzip${' '.repeat(length)}x`),
  'padding before other text': (length) => withoutTrailing('=', `${'='.repeat(length)}x`),
  'tags that do not end': (length) => prettyXml('<'.repeat(length)),
  'a name of a member': (length) => misspelledName('a'.repeat(length), ['organizationId', 'a'.repeat(99)]),
  'marks on one letter': (length) => normalizeText(`a${'\u0301\u0316'.repeat(length / 2)}`),
  'elements that do not end': (length) => rewriteEdit('<strong'.repeat(length / 7), '12:00:00'),
}

it.each(Object.entries(shapes))('[TXT-3] takes linear time for %s', async (_, work) => {
  const [once, twice, fourfold] = [
    await shortestMs(() => work(40_000)),
    await shortestMs(() => work(80_000)),
    await shortestMs(() => work(160_000)),
  ]
  expect(fourfold, `${once} ms, ${twice} ms, ${fourfold} ms`).toBeLessThan(
    Math.max(measurableMs, growthMax * once),
  )
})

it('[TXT-3] answers requests in limited time even if their headers and members contain expensive text', async () => {
  const spaces = await shortestMs(() =>
    fetch(`${server.url}/console`, { headers: { 'accept-encoding': `gzip${'\t'.repeat(14_000)}x` } }),
  )
  expect(spaces).toBeLessThan(measurableMs * 5)
  const position = `${'='.repeat(1_000_000)}x`
  const annotation = { anchor: { editorId: 'main', position } }
  const ids = { organizationId: 'acme', documentId: 'doc' }
  const [comments, applied] = [
    await server.post('/v2/commentannotations/add', {
      ...ids,
      actionUser: { userId: 'ann' },
      annotations: [annotation],
    }),
    await server.post('/v2/crdt/apply', { ...ids, editorId: 'main', update: position }),
  ]
  expect([comments.status, applied.status]).toEqual([400, 400])
})

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly maxLength?: number
  readonly enum?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Returns the paths of strings without a bound. The format `id` has one. */
function unboundedStrings(schema: Schema, path: string): readonly string[] {
  const isBounded = schema.maxLength !== undefined || schema.enum !== undefined || schema.format === 'id'
  return [
    ...(schema.type === 'string' && !isBounded ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
      unboundedStrings(each, `${path}/${name}`),
    ),
    ...[schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])]
      .filter((each) => each !== undefined)
      .flatMap((each) => unboundedStrings(each, path)),
  ]
}

it('[TXT-4] limits the length of every string of a request except contentKey, update and inserted text', () => {
  const found = operationList.flatMap(({ path, request }) =>
    unboundedStrings(request as unknown as Schema, path),
  )
  // The option `maxBodyBytes` bounds an update, inserted text and the name of a root, as it bounds content.
  expect([...new Set(found.map((path) => path.split('/').at(-1)))]).toEqual([
    'contentKey',
    'update',
    'insert',
  ])
})
