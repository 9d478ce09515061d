"""Which IP addresses may be reached: public unicast, and private networks where the operator allows them.

The tables are IANA's registries of special-purpose addresses, written out: not every Python counts all of them, and
their flag "globally reachable" includes relays and anycast services that no file is ever fetched from. For IPv6,
everything is refused that is not in 2000::/3, the only block that global unicast addresses are given out of.
Source: https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_GLOBAL6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


def _parse_networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


_SPECIAL = _parse_networks(
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by customers of a carrier
    "127.0.0.0/8",  # this machine
    "169.254.0.0/16",  # link-local, and where most clouds tell a machine its secrets
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # IETF protocols
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # multicast tunnels
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
    "2001::/23",  # IETF protocols, Teredo and ORCHID among them
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)
_PRIVATE = _parse_networks(
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7"
)
_METADATA = _parse_networks(
    "168.63.129.16/32",  # Azure
    "100.100.100.200/32",  # Alibaba
    "fd00:ec2::/32",  # AWS
    "fd20:ce::/32",  # Google
    "fd00:42::42/128",  # Scaleway
)
"""Where clouds tell a machine its secrets outside of link-local addresses: neither public nor ever allowed."""


def is_allowed(address: str, *, private: bool = False) -> bool:
    """Return whether an IP address may be reached; text that is not one may not.

    Shape: `private` adds this machine and private networks, but never link-local, multicast, unspecified or reserved
    addresses, nor those where clouds keep secrets. An IPv4 address inside an IPv6 one decides.
    """
    try:
        ip = _find_embedded(ip_address(address))
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        return False
    if any(ip in network for network in _METADATA):
        return False
    if private and any(ip in network for network in _PRIVATE):
        return True
    return (ip.version == 4 or ip in _GLOBAL6) and not any(ip in network for network in _SPECIAL)


def is_ip_address(host: str) -> bool:
    """Return whether a host is an IP address itself, in the usual spelling."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _find_embedded(ip: Address) -> Address:
    """Return the IPv4 address that packets to an IPv6 address end at, where it is part of it; else the address
    itself."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip
