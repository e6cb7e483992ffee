import { placeOf, waysOf } from './moves.js'

/** The actions on a card for touch and keyboard: a dialog with a button for each. */
export class Menu {
  constructor(dialog, board, view, say) {
    Object.assign(this, { dialog, board, view, say })
    dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  }

  open(id) {
    const card = this.board.card(id)
    if (card === undefined) return
    const heading = document.createElement('h2')
    heading.textContent = card.title
    heading.id = 'menu-title'
    this.dialog.replaceChildren(heading, ...this.#buttons(id))
    this.dialog.showModal()
  }

  #buttons(id) {
    const { board, view } = this
    const { up, down } = waysOf(board, id)
    const move = ({ column, before }) => {
      board.move(id, column, before)
      view.focusCard(id)
      this.say(placeOf(board, id))
    }
    const elsewhere = board.columns().filter(({ cards }) => !cards.some((card) => card.id === id))
    return [
      this.#button('Edit', () => view.edit(id)),
      up && this.#button('Move up', () => move(up)),
      down && this.#button('Move down', () => move(down)),
      ...elsewhere.map((column) =>
        this.#button(`Move to ${column.title}`, () => move({ column: column.id, before: null })),
      ),
      this.#button('Delete', () => board.removeCard(id)),
      this.#button('Close', () => view.focusCard(id)),
    ].filter(Boolean)
  }

  #button(text, act) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = text
    button.addEventListener('click', () => {
      this.dialog.close()
      act()
    })
    return button
  }
}
