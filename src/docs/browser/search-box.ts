import type { SearchResult } from './search-index.ts'

type Search = (query: string) => readonly SearchResult[]

/** Maximum numbers of characters of an excerpt: in total, and before the first word that matches. */
const excerptChars = { all: 150, before: 50 }

interface SearchElements {
  readonly form: HTMLFormElement
  readonly input: HTMLInputElement
  readonly list: HTMLElement
  readonly status: HTMLElement
}

/** Starts the search box of the page: `/` focuses it, the arrow keys choose a result, Enter opens it. */
export function startSearchBox(): void {
  const form = document.querySelector<HTMLFormElement>('form.search')
  const [input, list, status] = ['input', '.results', '.status'].map((each) => form?.querySelector(each))
  if (form === null || !(input instanceof HTMLInputElement)) return
  if (!(list instanceof HTMLElement) || !(status instanceof HTMLElement)) return
  new SearchCombobox({ form, input, list, status }).start()
}

class SearchCombobox {
  readonly #elements: SearchElements
  #search: Promise<Search> | null = null
  /** Index of the chosen result; -1 if no result is chosen. */
  #chosen = -1

  constructor(elements: SearchElements) {
    this.#elements = elements
  }

  start(): void {
    const { form, input } = this.#elements
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return
      event.preventDefault()
      input.focus()
      input.select()
    })
    input.addEventListener('focus', () => void this.#load().catch(() => {}))
    input.addEventListener('input', () => void this.#update())
    input.addEventListener('keydown', (event) => this.#onKey(event))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#update().then(() => this.#openChosen())
    })
    form.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && form.contains(relatedTarget))) this.#close()
    })
  }

  /** Loads the index on the first use. After a failure, the next use loads the index again. */
  #load(): Promise<Search> {
    this.#search ??= import('./search-index.ts')
      .then(({ loadSearch }) => loadSearch())
      .catch((error: unknown) => {
        this.#search = null
        throw error
      })
    return this.#search
  }

  /** Shows the results for the current text of the input. */
  async #update(): Promise<void> {
    const { input } = this.#elements
    const query = input.value.trim()
    if (query === '') return this.#close()
    try {
      const search = await this.#load()
      // If the text has changed while the index was loading, the update of the new text shows the results.
      if (input.value.trim() === query) this.#show(search(query))
    } catch (error) {
      this.#showText(`Search failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  #show(results: readonly SearchResult[]): void {
    if (results.length === 0) return this.#showText('No results')
    const { input, list, status } = this.#elements
    const chosen = list.children[this.#chosen]?.getAttribute('href')
    list.replaceChildren(...results.map(optionOf))
    list.hidden = false
    input.setAttribute('aria-expanded', 'true')
    status.textContent = results.length === 1 ? '1 result' : `${results.length} results`
    status.classList.add('unseen')
    // If the results contain the chosen result again, it stays chosen.
    this.#choose(results.findIndex(({ path }) => path === chosen))
  }

  #showText(text: string): void {
    this.#close()
    this.#elements.status.textContent = text
    this.#elements.status.classList.remove('unseen')
  }

  #close(): void {
    const { input, list, status } = this.#elements
    this.#choose(-1)
    list.hidden = true
    list.replaceChildren()
    status.textContent = ''
    status.classList.add('unseen')
    input.setAttribute('aria-expanded', 'false')
  }

  #onKey(event: KeyboardEvent): void {
    const { list } = this.#elements
    const count = list.children.length
    if (event.key === 'Escape') this.#close()
    if (count === 0 || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    const step = event.key === 'ArrowDown' ? 1 : -1
    // If no result is chosen, the arrow up chooses the last result.
    this.#choose(this.#chosen === -1 && step === -1 ? count - 1 : (this.#chosen + step + count) % count)
  }

  #choose(place: number): void {
    const { input, list } = this.#elements
    list.children[this.#chosen]?.setAttribute('aria-selected', 'false')
    this.#chosen = place
    const option = list.children[place]
    if (option === undefined) return input.removeAttribute('aria-activedescendant')
    option.setAttribute('aria-selected', 'true')
    option.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', option.id)
  }

  /** Opens the chosen result, or the first result if none is chosen. */
  #openChosen(): void {
    const option = this.#elements.list.children[Math.max(0, this.#chosen)]
    if (!(option instanceof HTMLAnchorElement)) return
    const { href } = option
    this.#close()
    location.assign(href)
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')

function optionOf(result: SearchResult, place: number): HTMLElement {
  const option = document.createElement('a')
  option.id = `docs-result-${place}`
  option.href = result.path
  option.className = 'result'
  option.tabIndex = -1
  option.setAttribute('role', 'option')
  option.setAttribute('aria-selected', 'false')
  const title = document.createElement('strong')
  title.append(...marked(result.section === '' ? result.page : result.section, result.words))
  const page = document.createElement('span')
  page.className = 'page'
  const { section, operation } = result
  page.textContent = section === '' ? '' : [result.page, operation].filter(Boolean).join(' · ')
  const text = document.createElement('span')
  text.className = 'excerpt'
  text.append(...marked(excerptOf(result), result.words))
  option.append(title, ' ', page, text)
  return option
}

/** Returns the part of the text around the first word that the query has matched. */
function excerptOf({ text, words }: SearchResult): string {
  const first = matchesIn(text, words)[0]?.index ?? 0
  const from = first <= excerptChars.before ? 0 : text.indexOf(' ', first - excerptChars.before) + 1
  const end = from + excerptChars.all
  return `${from > 0 ? '… ' : ''}${text.slice(from, end)}${end < text.length ? ' …' : ''}`
}

/** Returns the places in the text at which a word begins that the query has matched. */
function matchesIn(text: string, words: readonly string[]): readonly RegExpExecArray[] {
  if (words.length === 0) return []
  const longestFirst = words.toSorted((one, other) => other.length - one.length)
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})`, 'giu'))]
}

/** Returns the text as nodes, in which the matched words are marked. */
function marked(text: string, words: readonly string[]): readonly Node[] {
  const nodes: Node[] = []
  let end = 0
  for (const match of matchesIn(text, words)) {
    const mark = document.createElement('mark')
    mark.textContent = match[0]
    nodes.push(document.createTextNode(text.slice(end, match.index)), mark)
    end = match.index + match[0].length
  }
  return [...nodes, document.createTextNode(text.slice(end))]
}
