import { placeOf, waysOf } from './moves.js'

const directions = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' }

/**
 * On a card, arrows select the next card, and with Shift they move the card. Enter edits it, and Delete
 * deletes it.
 */
export function watchKeys(root, board, view, say) {
  root.addEventListener('keydown', (event) => {
    const { target, key, shiftKey } = event
    if (!target.classList.contains('card')) return
    const { id } = target.dataset
    const direction = directions[key]
    if (direction !== undefined) {
      if (shiftKey) move(id, direction)
      else view.focusCard(neighbor(id, direction))
    } else if (key === 'Enter' || key === 'F2') view.edit(id)
    else if (key === 'Delete') remove(id)
    else return
    event.preventDefault()
  })

  function move(id, direction) {
    const way = waysOf(board, id)[direction]
    if (way === null) return
    board.move(id, way.column, way.before)
    view.focusCard(id)
    say(placeOf(board, id))
  }

  function remove(id) {
    const { title } = board.card(id)
    const next = neighbor(id, 'down') ?? neighbor(id, 'up')
    board.removeCard(id)
    view.focusCard(next)
    say(`“${title}” is deleted`)
  }

  /**
   * Returns the card next to this one. In another column it is the one at the same height, or the last one.
   */
  function neighbor(id, direction) {
    const columns = board.columns()
    const column = columns.findIndex(({ cards }) => cards.some((card) => card.id === id))
    const at = columns[column].cards.findIndex((card) => card.id === id)
    if (direction === 'up') return columns[column].cards[at - 1]?.id
    if (direction === 'down') return columns[column].cards[at + 1]?.id
    const { cards } = columns[column + (direction === 'left' ? -1 : 1)] ?? { cards: [] }
    return (cards[at] ?? cards.at(-1))?.id
  }
}
