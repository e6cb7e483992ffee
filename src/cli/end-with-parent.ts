const checkMs = 500

/**
 * Sends SIGTERM to this process when its parent process has ended. `npm` runs a script in a shell, and some
 * shells end on a signal without forwarding it.
 */
export function endWithParent(): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, checkMs)
  timer.unref()
}
