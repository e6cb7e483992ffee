import { operationList } from '../../../src/capabilities/list.ts'
import type { Schema } from '../../../src/core/base/schema.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import type { Operation } from '../../../src/rest/operation.ts'
import type { ExampleServer } from '../../support/data/openapi-example-data.ts'
import type { Random } from '../../support/data/random-doc.ts'
import { hostileTexts, textOf } from '../../support/faults/hostile-messages.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import type { Meter, Prepared, Probe } from './measure.ts'

/** A value for one member of a request, of about n characters. */
type Blown = (n: number) => unknown

interface Place {
  readonly path: readonly (string | number)[]
  readonly blown: Readonly<Record<string, Blown>>
}

const many = (n: number, bytesEach: number): number => Math.ceil(n / bytesEach)

/** Values of any kind. */
const anything: Readonly<Record<string, Blown>> = {
  'long text': (n) => 'a'.repeat(n),
  numbers: (n) => Array.from({ length: many(n, 2) }, () => 1),
  nested: (n) => Array.from({ length: many(n, 60) }, () => JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`)),
  keys: (n) => Object.fromEntries(Array.from({ length: many(n, 10) }, (_, at) => [`k${at}`, at])),
}

/** Returns an example in which each id and text is different. */
function distinct(value: unknown, at: number): unknown {
  if (typeof value === 'string') return `${value}-${at}`
  if (Array.isArray(value)) return value.map((each) => distinct(each, at))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, distinct(each, at)]))
}

function texts(random: Random): Readonly<Record<string, Blown>> {
  const shape = random.pick(hostileTexts)
  return {
    '=': (n) => `${'='.repeat(n)}a`,
    spaces: (n) => `a${' '.repeat(n)}a`,
    [JSON.stringify(shape)]: (n) => textOf(shape, n),
  }
}

/** Returns all members of a request, including those of the first item of a list. */
function placesOf(schema: Schema, path: Place['path'], random: Random): readonly Place[] {
  if (schema.type === undefined)
    return [
      { path, blown: anything },
      ...(schema.anyOf ?? []).flatMap((each) => placesOf(each, path, random)),
    ]
  if (schema.type === 'string') return 'enum' in schema ? [] : [{ path, blown: texts(random) }]
  if (schema.type === 'array') {
    const example = exampleOf(schema.items, 'answer')
    const size = JSON.stringify(example ?? null).length + 8
    const items: Blown = (n) => Array.from({ length: many(n, size) }, (_, at) => distinct(example, at))
    return [{ path, blown: { items } }, ...placesOf(schema.items, [...path, 0], random)]
  }
  if (schema.type !== 'object') return []
  if (schema.properties === undefined) {
    const example = exampleOf(schema.additionalProperties, 'answer')
    const entries: Blown = (n) =>
      Object.fromEntries(Array.from({ length: many(n, 24) }, (_, at) => [`k${at}`, distinct(example, at)]))
    return [{ path, blown: { entries } }]
  }
  return Object.entries(schema.properties).flatMap(([name, each]) => placesOf(each, [...path, name], random))
}

/** Returns a copy of `value` with another value at the path. */
function replaced(value: unknown, [key, ...rest]: Place['path'], by: unknown): unknown {
  if (key === undefined) return by
  if (typeof key === 'number') {
    const list: readonly unknown[] = Array.isArray(value) ? value : []
    return [replaced(list[key], rest, by), ...list.slice(1)]
  }
  const members = typeof value === 'object' && value !== null ? value : {}
  const before: unknown = Object.entries(members).find(([name]) => name === key)?.[1]
  return { ...members, [key]: replaced(before, rest, by) }
}

/** Contents for each type of `/v2/crdt/update`: before and after the replacement. */
const contents: Readonly<
  Record<string, readonly ((n: number) => readonly [before: unknown, after: unknown])[]>
> = {
  text: [
    (n) => ['ab '.repeat(n / 3), 'b a'.repeat(n / 3)],
    (n) => [numbered(n), numbered(n).split(' ').reverse().join(' ')],
    (n) => ['a'.repeat(n), 'b'.repeat(n)],
    (n) => ['\n'.repeat(n), '\na'.repeat(n / 2)],
    (n) => ['e\u0301'.repeat(n / 2), '\u0301'.repeat(n)],
  ],
  delta: [
    (n) => [
      [{ insert: 'a'.repeat(n) }],
      Array.from({ length: n / 30 }, (_, at) => ({ insert: 'a', attributes: { [`k${at % 50}`]: at } })),
    ],
  ],
  xml: [
    (n) => [`<d>${'<p>a</p>'.repeat(n / 8)}</d>`, `<d>${'<p>b</p>'.repeat(n / 8)}</d>`],
    (n) => [`<d>${items(n, 'p')}</d>`, `<d>${items(n, 'p').split('\n').reverse().join('')}</d>`],
    (n) => ['<d/>', `<d>${'<p>'.repeat(150)}${'<b/>'.repeat(n / 4)}${'</p>'.repeat(150)}</d>`],
    (n) => ['<d/>', `<d>${'&amp;'.repeat(n / 5)}</d>`],
  ],
  array: [(n) => [list(n), list(n).reverse()], (n) => [list(n), list(n).map((at) => ({ at }))]],
  map: [
    (n) => [Object.fromEntries(list(n).map((at) => [`k${at}`, at])), {}],
    (n) => [{}, Object.fromEntries(list(n).map((at) => [`k${at}`, { at: [at] }]))],
  ],
}

const numbered = (n: number): string => list(n).join(' ')
const list = (n: number): number[] => Array.from({ length: Math.floor(n / 6) }, (_, at) => at)
const items = (n: number, name: string): string =>
  Array.from({ length: Math.floor(n / 12) }, (_, at) => `<${name}>${at}</${name}>`).join('\n')

/** Length of an enlarged request in characters. */
export const blownLength = 64_000

async function call({ server, credentials }: ExampleServer, path: string, body: string): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'x-service-api-key': credentials.apiKey ?? '',
    'x-service-auth-token': credentials.authToken ?? '',
    'x-service-workspace-id': credentials.workspaceId ?? '',
    'x-service-workspace-auth-token': credentials.workspaceAuthToken ?? '',
    'x-service-admin-token': credentials.adminToken ?? '',
  }
  const response = await fetch(server.url + path, { method: 'POST', headers, body })
  return response.text()
}

const prepared = (example: ExampleServer, path: string, data: unknown): Prepared => {
  const body = JSON.stringify({ data })
  return { size: body.length, run: () => call(example, path, body) }
}

/** Operations that are omitted, because they invalidate the credentials of the others. */
const left = ['/v2/workspace/workspaceauthtoken/reset', '/v2/workspace/authtoken/reset']

const probesOf = (example: ExampleServer, { path, request }: Operation, random: Random): readonly Probe[] =>
  placesOf(request, [], random).flatMap((place) =>
    Object.entries(place.blown).map(([name, blown]) => ({
      name: `${path} /${place.path.join('/')}: ${name}`,
      from: blownLength / 4,
      to: 4 * blownLength,
      prepare: (n) => {
        const data = exampleOf(request, place.path.length === 1 ? 'request' : 'answer')
        return prepared(example, path, replaced(data, place.path, blown(n)))
      },
    })),
  )

/** Every operation with one enlarged member at a time. */
export const operationProbes = (example: ExampleServer, random: Random): readonly Probe[] =>
  operationList.filter(({ path }) => !left.includes(path)).flatMap((each) => probesOf(example, each, random))

let documents = 0

const newAddress = () => {
  documents += 1
  return { organizationId: 'cost', documentId: `cost-${documents}`, editorId: 'main' }
}

/** Replacements of large content by other content of the same size. */
export const replacementProbes = (example: ExampleServer): readonly Probe[] =>
  Object.entries(contents).flatMap(([type, pairs]) =>
    pairs.map((pair, at) => ({
      name: `/v2/crdt/update ${type} ${at}`,
      from: blownLength / 4,
      to: 4 * blownLength,
      prepare: async (n) => {
        const address = newAddress()
        const [before, after] = pair(n)
        await call(example, '/v2/crdt/add', JSON.stringify({ data: { ...address, type, data: before } }))
        return prepared(example, '/v2/crdt/update', { ...address, type, data: after })
      },
    })),
  )

/** Stretches of a document with a response of 165 KB; four times as many make 2.6 MB. */
export const smallResponse = 400

const reads = ['delta', 'xml', 'xmltext', 'text'] as const

/** Reads of documents that are far smaller than their content. They resolve with the length of the response. */
export const responseProbes = (example: ExampleServer): readonly Probe[] =>
  reads.map((format) => ({
    name: `/v2/crdt/get ${format} attributeOverStretches`,
    from: smallResponse,
    to: 4 * smallResponse,
    prepare: async (n) => {
      const address = newAddress()
      const updates = hostileUpdates.attributeOverStretches(n)
      for (const bytes of updates) {
        const update = Buffer.from(bytes).toString('base64')
        await call(example, '/v2/crdt/apply', JSON.stringify({ data: { ...address, update, create: true } }))
      }
      const { run } = prepared(example, '/v2/crdt/get', { ...address, format })
      return { size: updates.reduce((sum, { length }) => sum + length, 0), run }
    },
  }))

/** Length of a response. Below `maxResponseBytes` a response may be far longer than the document. */
export const responseLength: Meter = {
  unit: 'characters',
  floor: 500_000,
  repeats: 1,
  growthMax: 7,
  cost: async (run) => String(await run()).length,
}
