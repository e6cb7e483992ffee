/** Moves cards with the mouse. Users without a mouse have the menu and the keys. */
export function watchDragging(root, board, view, people) {
  let dragged = null
  const end = () => {
    root.querySelector('.dragged')?.classList.remove('dragged')
    for (const each of root.querySelectorAll('.target')) each.classList.remove('target')
    dragged = null
    people.tell('dragged', null)
  }

  root.addEventListener('dragstart', (event) => {
    const card = event.target.closest?.('.card')
    if (!card) return
    dragged = card.dataset.id
    event.dataTransfer.effectAllowed = 'move'
    event.dataTransfer.setData('text/plain', card.querySelector('.title').textContent)
    card.classList.add('dragged')
    people.tell('dragged', dragged)
  })

  root.addEventListener('dragover', (event) => {
    const column = dragged && event.target.closest('.column')
    if (!column) return
    event.preventDefault()
    for (const each of root.querySelectorAll('.target')) each.classList.toggle('target', each === column)
    column.classList.add('target')
  })

  root.addEventListener('drop', (event) => {
    const column = dragged && event.target.closest('.column')
    if (!column) return
    event.preventDefault()
    const id = dragged
    const before = cardBelow(column, event.clientY, id)
    end()
    board.move(id, column.dataset.id, before)
    view.focusCard(id)
  })

  root.addEventListener('dragend', end)
}

/** Returns the first card whose middle is below the pointer. */
function cardBelow(column, y, dragged) {
  const below = [...column.querySelectorAll('.card')].find((card) => {
    const { top, height } = card.getBoundingClientRect()
    return card.dataset.id !== dragged && y < top + height / 2
  })
  return below?.dataset.id ?? null
}
