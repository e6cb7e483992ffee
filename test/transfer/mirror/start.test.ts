import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { startRecorder, startYWebsocket } from '../../support/servers/legacy-servers.ts'
import { inStep, MirrorSetting } from '../../support/servers/mirror-servers.ts'
import { itLong } from '../../support/time/full-run.ts'

let at: MirrorSetting

beforeAll(async () => {
  at = await MirrorSetting.open(startYWebsocket)
})

afterEach(() => at.endTest())

afterAll(() => at.end())

/** Exit code and output of a mirror that ends immediately. */
async function refused(names: readonly string[], more: readonly string[] = [], from = at.old.url) {
  const { code, err } = await (await at.mirror(names, more, from)).ended
  return [code, err]
}

describe('the start of a mirror', () => {
  itLong(
    '[MIRROR-9] rejects an empty list of documents, a name that changes the path of a URL, and a URL with a fragment',
    async () => {
      expect(await refused(['', ''])).toEqual([2, 'weft: names names no document\n'])
      for (const name of ['a/%2e%2E', 'a\\b'])
        expect(await refused([name], ['--organization', 'acme'])).toEqual([
          2,
          `weft: ${JSON.stringify(name)}: a URL with this name leads elsewhere\n`,
        ])
      expect(await refused(['acme/a/main'], [], `${at.old.url}/#x`)).toEqual([
        2,
        expect.stringContaining('without #'),
      ])
    },
  )

  itLong('[MIRROR-10] reads the token from a file, and sends it to the old server only', async () => {
    const recorder = at.keep(await startRecorder(at.old.url))
    await writeFile(join(at.path, 'token'), 'sesame&more\n')
    const running = await at.mirror(['\ufeffacme/token/main'], ['--token-file', 'token'], recorder.url)
    await running.printed(inStep('acme/token/main'))
    expect(recorder.asked).toContain('/acme/token/main?token=sesame%26more')
    await writeFile(join(at.path, 'token'), '\n')
    expect(await refused(['acme/a/main'], ['--token-file', 'token'])).toEqual([
      2,
      expect.stringContaining('token holds no token'),
    ])
    expect((await refused(['acme/a/main'], ['--token-file', 'token', '--token', 'x']))[0]).not.toBe(0)
  })

  itLong('[MIRROR-7] reports when the server that answers is not Weft', async () => {
    const other = createServer((_request, response) => response.end('<html>'))
    at.keep(other.listen(0, '127.0.0.1'))
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const running = await at.mirror(['acme/a/main'], ['--once'], at.old.url, url)
    const { code, out } = await running.ended
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('"reason":"the server at this URL is not Weft: its response has no token"'),
    ])
  })
})
