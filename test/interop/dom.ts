import { Window } from 'happy-dom'

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

const window = new Window({ url: 'http://localhost/' })

for (const name of names) {
  const found: unknown = window[name]
  const isMethod = typeof found === 'function' && /^[a-z]/.test(name)
  const value: unknown = isMethod ? found.bind(window) : found
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
}
Object.defineProperty(globalThis, 'window', { value: window, configurable: true, writable: true })

/** Creates an element on the page for an editor. */
export function place(): HTMLElement {
  const made = document.createElement('div')
  document.body.append(made)
  return made
}
