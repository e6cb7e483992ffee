import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { errorTextOf, readObjectPage, S3Store } from '../../../src/capabilities/backups/s3-store.ts'
import { listed } from '../../support/stores/object-store-suite.ts'

let server: Server | null = null
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
})

/** Starts a service that answers each request with `answer`, and opens a store in it. */
async function openStore(answer: (url: URL, response: ServerResponse) => void): Promise<S3Store> {
  server = createServer((request, response) => answer(new URL(request.url ?? '', 'http://host'), response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const keys = { accessKeyId: 'id', secretAccessKey: 'key', sessionToken: null }
  return new S3Store({ bucket: 'weft', prefix: '' }, { endpoint, region: 'us-east-1', ...keys })
}

const pageXml = (names: readonly string[], next: string | null): string =>
  `<ListBucketResult>${names.map((name) => `<Contents><Key>${name}</Key><Size>1</Size></Contents>`).join('')}${
    next === null
      ? ''
      : `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`
  }</ListBucketResult>`

it('[BKP-141] rejects a response with deep elements, and needs little memory for it', () => {
  const depth = 300_000
  for (const xml of ['<a>'.repeat(depth), '<a>'.repeat(depth) + '</a>'.repeat(depth)]) {
    expect(errorTextOf(500, xml)).toBe('HTTP 500')
    expect(() => readObjectPage(xml, '')).toThrow('nested too deeply')
  }
})

it('[BKP-141] cuts long texts of an error, and rejects a page with too many objects or a long token', () => {
  const error = errorTextOf(400, `<Error><Code>${'c'.repeat(9_000)}</Code><Message>m</Message></Error>`)
  expect(error.length).toBeLessThan(500)
  const names = Array.from({ length: 1_001 }, (_, index) => `chunks/${index}`)
  expect(readObjectPage(pageXml(names.slice(1), null), '').objects).toHaveLength(1_000)
  expect(() => readObjectPage(pageXml(names, null), '')).toThrow('more than 1000 objects')
  expect(() => readObjectPage(pageXml([], 't'.repeat(9_000)), '')).toThrow('token')
})

it('[BKP-141] ends a list whose tokens repeat', async () => {
  const store = await openStore((_url, response) => response.end(pageXml(['a'], 'same')))
  await expect(listed(store, '')).rejects.toThrow('the list of objects does not end')
})

it('[BKP-141] ends a list that always has another page without objects', async () => {
  let pages = 0
  const store = await openStore((_url, response) => response.end(pageXml([], `token-${++pages}`)))
  await expect(listed(store, '')).rejects.toThrow('the list of objects does not end')
  expect(pages).toBeLessThan(1_100)
}, 60_000)
