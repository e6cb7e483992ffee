import { editInPlace, element } from './elements.js'

/**
 * Shows a board. An element stays while its column or card exists, so that it keeps the focus and typed text.
 */
export class View {
  /** Called with the id of a card to open its menu. */
  onMenu = () => {}
  #columns = new Map()
  #cards = new Map()
  #isRendering = false

  constructor(root, board, people) {
    Object.assign(this, { root, board, people })
  }

  render() {
    // An element that moves loses the focus. The other users are notified of that at once, which calls this
    // method again.
    if (this.#isRendering) return
    const focused = document.activeElement
    this.#isRendering = true
    const columns = this.board.columns()
    const others = this.people.atCards()
    keep(this.#columns, columns)
    keep(
      this.#cards,
      columns.flatMap(({ cards }) => cards),
    )
    arrange(
      this.root,
      columns.map((column) => this.#column(column)),
    )
    for (const column of columns) {
      const list = this.#columns.get(column.id).querySelector('.cards')
      arrange(
        list,
        column.cards.map((card) => this.#card(card, others.get(card.id) ?? [])),
      )
    }
    if (focused !== document.activeElement && focused?.isConnected) focused.focus()
    this.#isRendering = false
  }

  focusCard(id) {
    this.#cards.get(id)?.focus()
  }

  edit(id) {
    const shown = this.#cards.get(id)?.querySelector('.title')
    if (shown) this.#edit(shown, 'Text of the card', (title) => this.board.rename(id, title))
  }

  #edit(shown, label, done) {
    const { input, end } = editInPlace(shown, label, (text) => {
      if (text !== null) done(text)
      this.render()
    })
    input.addEventListener('blur', () => this.#isRendering || end(true))
  }

  #column({ id, title, cards }) {
    const column = this.#columns.get(id) ?? this.#newColumn(id)
    setText(column.querySelector('.name'), title)
    setText(column.querySelector('.count'), String(cards.length))
    column.querySelector('.remove').hidden = cards.length > 0
    column.querySelector('.remove').ariaLabel = `Delete the column ${title}`
    column.querySelector('.add').ariaLabel = `New card in ${title}`
    return column
  }

  #newColumn(id) {
    const name = element('button', 'name')
    name.title = 'Rename'
    name.addEventListener('click', () =>
      this.#edit(name, 'Name of the column', (title) => this.board.renameColumn(id, title)),
    )
    const remove = element('button', 'remove', '✕')
    remove.addEventListener('click', () => this.board.removeColumn(id))
    const add = element('input', 'add')
    add.placeholder = 'Add a card'
    add.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || add.value.trim() === '') return
      this.board.addCard(id, add.value.trim())
      add.value = ''
    })
    const head = element('header', '', element('h2', '', name), element('span', 'count'), remove)
    const column = element('section', 'column', head, element('ul', 'cards'), add)
    column.dataset.id = id
    this.#columns.set(id, column)
    return column
  }

  #card({ id, title }, others) {
    const card = this.#cards.get(id) ?? this.#newCard(id)
    // During an edit the title is not in the page.
    const shown = card.querySelector('.title')
    if (shown) setText(shown, title)
    card.querySelector('.more').ariaLabel = `Actions for ${title}`
    const marked = others.find(({ how }) => how !== 'pointed')
    card.classList.toggle('held', marked !== undefined)
    card.style.setProperty('--who', marked?.color ?? '')
    const key = JSON.stringify(others)
    if (card.dataset.others !== key) {
      card.dataset.others = key
      card.querySelector('.others').replaceChildren(...others.map(badgeOf))
    }
    return card
  }

  #newCard(id) {
    const more = element('button', 'more', '⋯')
    more.addEventListener('click', () => this.onMenu(id))
    const card = element('li', 'card', element('span', 'title'), more, element('span', 'others'))
    card.dataset.id = id
    card.draggable = true
    card.tabIndex = 0
    card.addEventListener('dblclick', () => this.edit(id))
    this.#cards.set(id, card)
    return card
  }
}

const words = { selected: '', dragged: ' is moving it', pointed: '' }

function badgeOf({ name, color, how }) {
  const badge = element('span', `badge ${how}`, `${name}${words[how]}`)
  badge.style.setProperty('--who', color)
  return badge
}

const setText = (shown, text) => {
  if (shown && shown.textContent !== text) shown.textContent = text
}

/** Deletes the elements of deleted items. */
function keep(elements, items) {
  const ids = new Set(items.map(({ id }) => id))
  for (const id of elements.keys()) if (!ids.has(id)) elements.delete(id)
}

/** Puts these children into `parent` in this order, without moving those that are in their place. */
function arrange(parent, children) {
  const gone = Array.from(parent.children).filter((child) => !children.includes(child))
  for (const child of gone) child.remove()
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null)
  })
}
