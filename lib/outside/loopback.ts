// Outside: the network, which begins where an address leaves this machine.

/** Whether an address or a host name stays on this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.[\d.]+$/.test(host)
}
