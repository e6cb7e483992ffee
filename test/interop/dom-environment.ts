import type { Environment } from 'vitest/runtime'
import { missing } from '../support/needs.ts'

/** Global names that the editors need. All others stay those of Node. */
const names = [
  'CustomEvent',
  'DOMParser',
  'Document',
  'DocumentFragment',
  'Element',
  'Event',
  'HTMLElement',
  'HTMLImageElement',
  'MutationObserver',
  'Node',
  'Range',
  'ResizeObserver',
  'Selection',
  'Text',
  'cancelAnimationFrame',
  'document',
  'getComputedStyle',
  'getSelection',
  'innerHeight',
  'innerWidth',
  'navigator',
  'requestAnimationFrame',
] as const

/**
 * Gives a test file the globals of a browser that editors need. Vitest runs such files in other processes, so
 * that all other tests keep the globals of Node. The first line of a test file chooses the environment.
 */
const environment: Environment = {
  name: 'dom',
  viteEnvironment: 'ssr',
  async setup(global: typeof globalThis) {
    // The file has one skipped test then.
    if (missing('test/interop') !== null) return { teardown: () => undefined }
    const { Window } = await import('happy-dom')
    const window = new Window({ url: 'http://localhost/' })
    const define = (name: string, value: unknown): void => {
      Object.defineProperty(global, name, { value, configurable: true, writable: true })
    }
    for (const name of names) {
      const found: unknown = window[name]
      const isMethod = typeof found === 'function' && /^[a-z]/.test(name)
      define(name, isMethod ? found.bind(window) : found)
    }
    define('window', window)
    return { teardown: () => window.happyDOM.close() }
  },
}

export default environment
