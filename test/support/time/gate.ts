export interface TestGate {
  readonly opened: Promise<void>
  readonly open: () => void
}

/** Returns a gate that is closed at first. Its promise `opened` resolves when `open` is called. */
export function gate(): TestGate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
