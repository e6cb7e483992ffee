import { Agent, get } from 'node:http'

/** Time between two requests. */
const everyMs = 10
const timeoutMs = 60_000

/** Polls a server on a connection of its own. */
export class Probe {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #longestMs = 0
  #askedAt = performance.now()
  #isStopped = false

  constructor(url: string) {
    this.#url = `${url}/healthz`
    void this.#ask()
  }

  /** The longest time without a response since the last call. */
  takeLongestMs(): number {
    const longestMs = Math.max(this.#longestMs, performance.now() - this.#askedAt)
    this.#longestMs = 0
    this.#askedAt = Math.max(this.#askedAt, performance.now() - everyMs)
    return longestMs
  }

  stop(): void {
    this.#isStopped = true
    this.#agent.destroy()
  }

  async #ask(): Promise<void> {
    while (!this.#isStopped) {
      this.#askedAt = performance.now()
      await this.#response()
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#askedAt)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }

  #response(): Promise<void> {
    return new Promise((resolve) => {
      const asked = get(this.#url, { agent: this.#agent, timeout: timeoutMs }, (response) => {
        response.on('close', resolve).resume()
      })
      asked.on('timeout', () => asked.destroy()).on('error', () => resolve())
    })
  }
}
