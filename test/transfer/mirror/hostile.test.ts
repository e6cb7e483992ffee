import * as encoding from 'lib0/encoding'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { WebSocket } from 'ws'
import * as Y from 'yjs'
import { eventually, message, openEditor, typed } from '../../support/clients/clients.ts'
import { startScripted, startYWebsocket } from '../../support/servers/legacy-servers.ts'
import { inStep, linesOf, MirrorSetting, sameInWeft } from '../../support/servers/mirror-servers.ts'
import { itLong } from '../../support/time/full-run.ts'

let at: MirrorSetting

beforeAll(async () => {
  at = await MirrorSetting.open(startYWebsocket)
})

afterEach(() => at.endTest())

afterAll(() => at.end())

const content = new Y.Doc()
content.getText('content').insert(0, 'old')
const [vector, offer] = [Y.encodeStateVector(content), Y.encodeStateAsUpdate(content)]

/** Behaves like the server of y-websocket, with `content`. */
function serve(client: WebSocket): void {
  client.send(message([0, 0], vector))
  client.on('message', () => client.send(message([0, 1], offer)))
}

const secret = 'secret of the old server & more'
const claimed = Y.encodeStateVector(new Map([[7, 5]]))

/** Behavior of the server for a document of this name. */
const behaviors: Readonly<Record<string, (client: WebSocket) => void>> = {
  noise: (client) => client.send(Buffer.from('ff'.repeat(50), 'hex')),
  nothing: (client) => client.send(''),
  vector: (client) => client.send(message([0, 0], Buffer.from('ffffffffffff', 'hex'))),
  offer: (client) => {
    client.send(message([0, 0], vector))
    client.on('message', () => client.send(message([0, 1], offer.subarray(0, -3))))
  },
  update: (client) => {
    serve(client)
    client.send(message([0, 2], Buffer.from('0102030405', 'hex')))
  },
  gone: (client) => client.close(4001, 'go away'),
  echo: (client) => client.close(4001, `not with ${secret}`),
  encoded: (client) => client.close(4001, `not with ${encodeURIComponent(secret)}`),
  refused: (client) =>
    client.send(message([2, 0], Buffer.from(`\u001b[2J${secret}\r\n is not good ${'!'.repeat(5000)}`))),
}

describe('a mirror of an old server with arbitrary behavior', () => {
  itLong(
    '[MIRROR-16] reports each failing document in one sentence without token and control characters, and copies the other documents',
    async () => {
      const server = at.keep(
        await startScripted((client, asked) => {
          const name = asked.split('/').at(-2) ?? ''
          const behave = behaviors[name] ?? serve
          behave(client)
        }),
      )
      const names = [...Object.keys(behaviors), 'good'].map((name) => `acme/${name}/main`)
      const running = await at.mirror(names, ['--token', secret], server.url)
      await running.printed(inStep('acme/good/main'))
      const failed = Object.keys(behaviors).map((name) => `"acme/${name}/main","kind":"failed"`)
      await eventually(
        () => failed.every((line) => running.out().includes(line)),
        () => running.out(),
      )
      running.child.kill('SIGTERM')
      const { code, out, err } = await running.ended
      expect([code, err]).toEqual([1, ''])
      const reasons = linesOf(out).flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []))
      for (const reason of reasons) {
        expect(reason).toMatch(
          /^the old server: (sent a message that cannot be read|has closed the connection|refuses)[^\p{Cc}]*$/u,
        )
        expect(reason.length).toBeLessThan(400)
      }
      expect(out).not.toContain(secret)
      expect(out).not.toContain(encodeURIComponent(secret))
      await sameInWeft(at.weft, 'acme/good/main', content)
    },
  )

  itLong('[MIRROR-16] accepts an answer that arrives before its request', async () => {
    const server = at.keep(
      await startScripted((client) => {
        client.send(message([0, 1], offer))
        serve(client)
      }),
    )
    const running = await at.mirror(['acme/early/main'], ['--once'], server.url)
    const { code, out } = await running.ended
    expect(out).not.toContain('"kind":"failed"')
    expect(code).toBe(0)
    await sameInWeft(at.weft, 'acme/early/main', content)
  })

  itLong('[MIRROR-16] waits for a slow answer as long as data arrives', { timeout: 90_000 }, async () => {
    const server = at.keep(
      await startScripted((client) => {
        client.send(message([0, 0], vector))
        client.on('message', () => void dribble(client, message([0, 1], offer)))
      }),
    )
    const running = await at.mirror(['acme/slow/main'], [], server.url)
    await running.printed(inStep('acme/slow/main'))
    expect(running.out()).not.toContain('"kind":"failed"')
  })

  itLong('[MIRROR-16] rejects an answer that belongs to another document', async () => {
    const server = at.keep(
      await startScripted((client) => {
        client.send(named('asked', [2, 2], Buffer.from('read-write')))
        client.send(named('asked', [0, 0], vector))
        client.on('message', () => client.send(named('another', [0, 1], offer)))
      }),
    )
    const arguments_ = ['--dialect', 'hocuspocus', '--organization', 'acme']
    const running = await at.mirror(['asked'], arguments_, server.url)
    await running.printed(/"reason":"the old server: .*another document/)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(1)
    const editor = at.keep(openEditor(at.weft.wsUrl, 'acme/asked/main', await at.weft.token()))
    await eventually(() => editor.provider.synced)
    expect(editor.text.toString()).toBe('')
  })
})

describe('the end of a mirror', () => {
  itLong('[MIRROR-17] the mirror has exit code 1 if its last comparison fails', async () => {
    let state: 'talking' | 'silent' = 'talking'
    const server = at.keep(
      await startScripted((client) => {
        client.send(message([0, 0], vector))
        client.on('message', () => state === 'talking' && client.send(message([0, 1], offer)))
      }),
    )
    const running = await at.mirror(['acme/last/main'], [], server.url)
    await running.printed(inStep('acme/last/main'))
    state = 'silent'
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect([code, linesOf(out).at(-1)]).toMatchObject([1, { ok: false, inStep: 0, failed: 1 }])
  })

  itLong(
    '[MIRROR-17] after a signal, the mirror waits until a comparison that starts later has ended',
    async () => {
      const questions: (() => void)[] = []
      let state: 'talking' | 'waiting' = 'talking'
      const added = typed('more', 9)
      let clients: WebSocket[] = []
      const server = at.keep(
        await startScripted((client) => {
          clients = [...clients, client]
          client.send(message([0, 0], vector))
          client.on('message', () => {
            const answer = (): void => client.send(message([0, 1], offer))
            if (state === 'talking') answer()
            else questions.push(answer)
          })
        }),
      )
      const running = await at.mirror(['acme/during/main'], [], server.url)
      await running.printed(inStep('acme/during/main'))
      state = 'waiting'
      await eventually(() => questions.length === 1)
      running.child.kill('SIGTERM')
      // Gives the signal time to arrive. If it arrives later, the test proves less.
      await new Promise((resolve) => setTimeout(resolve, 300))
      questions[0]?.()
      await eventually(() => questions.length === 2)
      for (const client of clients) client.send(message([0, 2], added))
      questions[1]?.()
      expect((await running.ended).code).toBe(0)
      Y.applyUpdate(content, added)
      await sameInWeft(at.weft, 'acme/during/main', content)
    },
  )

  itLong('[MIRROR-8] on SIGUSR2, also prints documents that `--once` has completed', async () => {
    const server = at.keep(
      await startScripted((client, asked) => {
        if (!asked.includes('behind')) return serve(client)
        client.send(message([0, 0], claimed))
        client.on('message', () => client.send(message([0, 1], Uint8Array.of(0, 0))))
      }),
    )
    const running = await at.mirror(['acme/over/main', 'acme/behind/main'], ['--once'], server.url)
    await running.printed(inStep('acme/over/main'))
    await new Promise((resolve) => setTimeout(resolve, 3000))
    running.child.kill('SIGUSR2')
    await running.printed(new RegExp(`(${inStep('acme/over/main').source}[^]*){2}`))
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(1)
  })
})

/** A message of Hocuspocus. */
const named = (name: string, types: readonly number[], body: Uint8Array): Uint8Array =>
  Buffer.concat([encoding.encode((encoder) => encoding.writeVarString(encoder, name)), message(types, body)])

/** Sends an answer in parts, in total slower than the patience with a silent server. */
async function dribble(client: WebSocket, answer: Uint8Array): Promise<void> {
  for (let at = 0; at < 10; at++) {
    await new Promise((resolve) => setTimeout(resolve, 4000))
    client.send(at < 9 ? answer.subarray(at, at + 1) : answer.subarray(9), { fin: at === 9 })
  }
}
