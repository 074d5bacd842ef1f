import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress } from '../../lib/outside/judged-request.ts'

/** First and last address of what is not public, and its neighbours that are, where they are. */
const SPECIAL: readonly (readonly [
  what: string,
  first: string,
  last: string,
  ...neighbours: string[],
])[] = [
  ['this network', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['private 10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['shared by a carrier', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['private 172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['TEST-NET-1', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['private 192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['benchmarks', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['TEST-NET-2', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['TEST-NET-3', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ["a host in Azure's", '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ["services of IBM's cloud", '161.26.0.0', '161.26.255.255', '161.25.255.255', '161.27.0.0'],
  ["IBM's service endpoints", '166.8.0.0', '166.11.255.255', '166.7.255.255', '166.12.0.0'],
  ['multicast', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
  ['all below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['Teredo and its like', '2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
  ['documentation', '2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
  ['6to4', '2002::', '2002:ffff::', '2001:ffff::', '2003::'],
  ['documentation 3fff::/20', '3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
  ['all above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::'],
]

for (const [what, first, last, ...neighbours] of SPECIAL) {
  test(`${what} is not public, and ends where it ends`, () => {
    for (const address of [first, last]) assert.equal(isPublicAddress(address), false, address)
    for (const address of neighbours) assert.equal(isPublicAddress(address), true, address)
  })
}

const REFUSED = [
  ['loopback', '127.0.0.1', '::1', '::ffff:127.0.0.1', '::FFFF:7F00:1', '0:0:0:0:0:ffff:7f00:1'],
  ['loopback in old forms of IPv6', '::127.0.0.1', '::ffff:0:127.0.0.1', '2002:7f00:1::'],
  ['loopback by NAT64', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:0::7f00:1', '64:ff9b::'],
  ['local NAT64', '64:ff9b:1::8.8.8.8', '64:ff9b:1::1'],
  ["a cloud's metadata", '169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254', 'fe80::1'],
  ["Azure's wire server", '168.63.129.16', '::ffff:168.63.129.16', '::ffff:a83f:8110'],
  [
    'and by NAT64, and older forms',
    '64:ff9b::168.63.129.16',
    '::168.63.129.16',
    '2002:a83f:8110::',
  ],
  ['and by Teredo', '2001:0:a83f:8110::1', '2001:0:0:0:0:0:57c0:7eef', '::ffff:0:168.63.129.16'],
  ["Alibaba's and Oracle's", '100.100.100.200', '::ffff:100.100.100.200', '192.0.0.192'],
  ["IPv6 of Amazon's, Google's, Oracle's", 'fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe'],
  ['private mapped', '::ffff:10.0.0.1', '::ffff:192.168.1.1', '::ffff:0.0.0.0', '::ffff:0:0'],
  ['what only looks mapped', 'fd00::ffff:8.8.8.8', '::ffff:808:808:1:1', 'fd00:64:ff9b::808:808'],
  ['local IPv6', 'fc00::1', 'fdff::1', 'fec0::1', 'ff02::1', '100::1', '5f00::1'],
  ['with a zone', 'fe80::1%eth0', '2606:4700::1%eth0', '2606:4700::1%25eth0'],
  ['no address', '', 'localhost', 'a.test', '1.1.1', '0x1.1.1.1', '01.1.1.1', '[2606:4700::1]'],
  ['no address at all', '1.1.1.1 ', '2606:4700::1/64', ']@1.1.1.1/[', '::1]:80/?[', '2606:47000::'],
] as const

for (const [what, ...addresses] of REFUSED) {
  test(`${what} is not public`, () => {
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address)
  })
}

test('what the Internet is made of is public', () => {
  const addresses = ['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2A00:1450:4001::1']
  const within = [
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
    '64:ff9b::101:0',
    '::ffff:192.169.0.1',
  ]
  for (const address of [...addresses, ...within]) {
    assert.equal(isPublicAddress(address), true, address)
  }
})
