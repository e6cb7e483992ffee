import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

it('[TRANS-50] serves a class of sockets of at most 3 KB gzipped, as a module without imports for all origins', async () => {
  const response = await fetch(`${server.url}/client/weft-socket.js`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  const script = await response.text()
  expect(gzipSync(script).length).toBeLessThanOrEqual(3_072)
  expect(script).not.toMatch(/\bimport\b/)
  expect(script).toMatch(/export\{.*\bas WeftSocket\b.*\bas default\b.*\bas weftSocket\b/)
})
