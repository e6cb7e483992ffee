import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/servers/process.ts'
import { Shell } from '../support/servers/shell.ts'
import { install, type PackageFolder } from './package-folder.ts'

/** The shortest lifetime that a token can have. */
export const tokenSeconds = 60

/** Warnings of a program that has two copies of Yjs, leaks listeners, or renders a page wrongly. */
const warnings =
  /.*(Yjs was already imported|hydrat|StrictMode|unique "key"|MaxListenersExceeded|UnhandledPromiseRejection).*/i

/** An app that `weft init` creates from a template. Runs its scripts as a user does. */
export class Project {
  readonly url: string
  readonly #template: string
  readonly #path: string
  readonly #environment: Readonly<Record<string, string>>
  #server: Shell | null = null

  private constructor(template: string, path: string, port: number) {
    this.url = `http://localhost:${port}`
    this.#template = template
    this.#path = path
    this.#environment = {
      PORT: String(port),
      TOKEN_SECONDS: String(tokenSeconds),
      NEXT_TELEMETRY_DISABLED: '1',
      // With CI set, Vite prints its address in colors.
      NO_COLOR: '1',
    }
  }

  /** Returns a project that will be in a new folder below `parent`, and on a port of its own. */
  static async in(parent: string, template: string): Promise<Project> {
    return new Project(template, join(parent, `my-${template}`), await freePort())
  }

  /** Creates the folder, and installs the packages. */
  async create(folder: PackageFolder): Promise<void> {
    const command = `npx --no-install weft-server init '${this.#path}' --template ${this.#template}`
    await Shell.run(command, folder.path)
    await Shell.run(install, this.#path)
  }

  async build(): Promise<void> {
    await Shell.run('npm run build', this.#path, this.#environment)
  }

  /** Starts the app, and waits until it serves its page. */
  async start(script: 'run dev' | 'start'): Promise<void> {
    const server = Shell.start(`npm ${script}`, this.#path, this.#environment)
    this.#server = server
    await server.printed(/http:\/\/localhost:\d+/)
    const { status } = await fetch(this.url)
    if (status !== 200) throw new Error(`the page has the status ${status}`)
    await this.#checkCredentials()
  }

  /** Requests the credentials of Weft as a file of the app. Vite serves the files of its folder. */
  async #checkCredentials(): Promise<void> {
    const folders = readdirSync(this.#path)
    const file = folders
      .map((name) => `${name}/credentials.json`)
      .find((name) => existsSync(join(this.#path, name)))
    if (file === undefined) throw new Error('the app has no file with the credentials of Weft')
    const { authToken } = JSON.parse(readFileSync(join(this.#path, file), 'utf8')) as { authToken: string }
    for (const path of [`/${file}`, `/@fs${this.#path}/${file}`, `/${file}?raw`, `/${file}?import`]) {
      const response = await fetch(this.url + path)
      if ((await response.text()).includes(authToken))
        throw new Error(`the app serves its credentials at ${path}`)
    }
  }

  /** Ends the app by SIGTERM. @throws Error if it has printed a warning about its code */
  async end(): Promise<void> {
    await this.#server?.end()
    const { out } = this
    this.#server = null
    const warning = warnings.exec(out)
    if (warning !== null) throw new Error(`the app has printed: ${warning[0]}`)
  }

  /** Output of the running app. */
  get out(): string {
    return this.#server?.out ?? ''
  }
}
