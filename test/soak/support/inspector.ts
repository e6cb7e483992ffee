import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Bytes of a process after garbage has been collected. */
export interface Heap {
  /** What JavaScript values take. */
  readonly usedBytes: number
  /** What buffers take, outside of it. */
  readonly bufferBytes: number
}

/** An answer about something that stays in the other process. */
type Remote<Name extends string> = Record<Name, { readonly objectId: string; readonly value: number }>

/** Options of Node for a process that can be inspected at a port and says nothing about it. */
export const inspectable = (port: number): string => `--inspect=127.0.0.1:${port} --inspect-publish-uid=http`

/** Looks into a running process by the protocol of Chrome's developer tools: no code of its own is in there. */
export class Inspector {
  readonly #socket: WebSocket
  #calls = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async connect(port: number): Promise<Inspector> {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`)
    const [target] = (await response.json()) as [{ webSocketDebuggerUrl: string }]
    const socket = new WebSocket(target.webSocketDebuggerUrl, { perMessageDeflate: false })
    await once(socket, 'open')
    return new Inspector(socket)
  }

  /** Collects garbage first, twice: what the first one has finalized goes with the second. */
  async heap(): Promise<Heap> {
    for (let time = 0; time < 2; time++) await this.#call('HeapProfiler.collectGarbage')
    const usage = (await this.evaluate('process.memoryUsage()')) as {
      heapUsed: number
      arrayBuffers: number
    }
    return { usedBytes: usage.heapUsed, bufferBytes: usage.arrayBuffers }
  }

  /** What keeps the event loop alive, counted by kind (sockets, requests to the disk); and all timers that there are. */
  async resources(): Promise<Readonly<Record<string, number>>> {
    const names = (await this.evaluate('process.getActiveResourcesInfo()')) as readonly string[]
    const counts: Record<string, number> = { timers: await this.#timers() }
    for (const name of names) if (name !== 'Timeout') counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  /** Those that do not keep the event loop alive are told of by nobody: they are looked for in memory. */
  async #timers(): Promise<number> {
    const expression = 'Object.getPrototypeOf(setTimeout(() => {}, 0))'
    const { result } = (await this.#call('Runtime.evaluate', { expression })) as Remote<'result'>
    const { objectId: prototypeObjectId } = result
    const { objects } = (await this.#call('Runtime.queryObjects', { prototypeObjectId })) as Remote<'objects'>
    const functionDeclaration = 'function () { return this.length }'
    const counted = { objectId: objects.objectId, functionDeclaration, returnByValue: true }
    const { result: length } = (await this.#call('Runtime.callFunctionOn', counted)) as Remote<'result'>
    for (const each of [result, objects])
      await this.#call('Runtime.releaseObject', { objectId: each.objectId })
    return length.value
  }

  /** The value of an expression, as JSON would have it. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.#call('Runtime.evaluate', { expression, returnByValue: true })
    return (answer as { result: { value?: unknown } }).result.value
  }

  close(): void {
    this.#socket.terminate()
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      const look = (data: Buffer): void => {
        const answer = JSON.parse(data.toString()) as { id?: number; result?: unknown; error?: unknown }
        if (answer.id !== id) return
        this.#socket.off('message', look)
        if (answer.error === undefined) resolve(answer.result)
        else reject(new Error(JSON.stringify(answer.error)))
      }
      this.#socket.on('message', look)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
