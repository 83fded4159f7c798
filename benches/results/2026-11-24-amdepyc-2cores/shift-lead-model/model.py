"""What was tried before crates/shift/src/demand_tests.rs was written: how the lead could ask, on a model of a machine
whose programs ask for memory in many ways. Prints MiB swapped, MiB x s / 1024 used and beyond the growth factor's goal, and
conversions. Run: python3 model.py >model.txt"""
import random, math, sys, itertools
DT=0.1
class P:
    def __init__(s,o): s.o=o; s.sm=None; s.prev=None; s.between=0; s.smf=None; s.last=0; s.shift=None; s.newest=0; s.fallnewprev=0; s.led=0; s.quiet=None
    def check(s,at,free,conv,dev_sizes=()):
        o=s.o; a=.7
        s.sm=free if s.sm is None else a*free+(1-a)*s.sm
        if s.prev is not None and at>s.prev[0]:
            n=(s.prev[1]-free)/(at-s.prev[0]); s.between=at-s.prev[0]
            if o['rate']=='now':
                s.last=max(0,min(s.smf,n)) if s.smf is not None else 0
            elif o['rate']=='max':
                s.last=max(0,min(s.lastnew,n),min(s.smf,n)) if s.smf is not None else 0
            else:
                s.last=max(0,min(s.lastnew,n)) if s.smf is not None else 0
            s.lastnew=n
            sm=s.smf if s.smf is not None else n
            s.smf=a*n+(1-a)*sm
        s.prev=(at,free)
        T=o['T']; G=o['growth']*T
        if conv is None: ahead=0
        elif o['kind']=='factor': ahead=o['lead']*s.last*(conv+s.between)
        else:
            ahead=s.last*(conv+s.between)*o['lead']
            if ahead>0: ahead+=T*o.get('floor',1)
        why='free' if s.sm<T else 'lead' if free<ahead else None
        goal=max(G,ahead)
        if s.last>T*0.01: s.quiet=None
        elif s.quiet is None: s.quiet=at
        if why:
            if s.soon('s',at): return ('wait',)
            by=max(goal-free,1)
            if o.get('by')=='need' and why=='lead': by=max(ahead-free,1)
            return ('grow',by,why)
        surplus=min(s.sm,free)-goal
        if o.get('steady'):
            if not hasattr(s,'lvl') or s.lvl is None or free<s.lvl[1]-T/10: s.lvl=(at,free)
            s.lvl=(s.lvl[0],max(s.lvl[1],free))
            if s.led>0 and at-s.lvl[0]>=o['steady']:
                surplus=max(surplus,min(s.ledb,min(s.sm,free)-o['backto']*T))
        if o.get('win'):
            s.hist=[(t,v) for t,v in getattr(s,'hist',[]) if at-t<=o['win']]+[(at,s.last)]
            if conv: s.lastconv=conv
            mr=max(v for t,v in s.hist)
            if s.led>0:
                gb=max(o['backto']*T, T+mr*(getattr(s,'lastconv',1)+max(s.between,1)))
                surplus=max(surplus,min(s.ledb,min(s.sm,free)-gb))
        if o.get('back') and s.quiet is not None and at-s.quiet>=o['back'] and s.led>0:
            surplus=max(surplus, min(s.sm,free)-o['backto']*T)
            early=True
        if surplus<1: return ('hold',)
        if s.soon('g',at): return ('wait',)
        return ('shrink',surplus)
    def soon(s,d,at): return s.shift and s.shift[0]==d and at-s.shift[1]<5
    def grew(s,at): s.shift=('g',at); s.sm=None; s.prev=None; s.lvl=None
    def shrank(s,at): s.shift=('s',at); s.sm=None; s.prev=None; s.lvl=None

def run(o,use,end,D,n,pace,dram=900,jit=0.2,seed=1,trace=False):
    r=random.Random(seed); p=P(o); now=0; pm=0; out=0; used=beyond=0; led=[]; taken=0; est=512; busy=None; nextc=r.random(); T=o['T'];G=o['growth']*T; doing=None; conv_n=0; swp=0
    while now<end or pm>0 and now<end+60:
        u=use(now); total=dram+pm*D
        u=min(u,1e9)
        if u-out>total: swp+=u-total-out; out=u-total
        if u<out: out=0 if u==0 else out
        eff=u-min(out,u); free=total-eff
        idle=min(pm*D,free); used+=(pm*D-idle)*DT; beyond+=min(idle,max(free-G,0))*DT
        if doing and now>=doing[1]:
            k,t,st=doing
            if k=='g':
                pm+=1; conv_n+=1; est=D/(now-st); gained+=D; led=[False]*len(led) if why=='free' else led; led.append(why=='lead')
                if gained<by and pm<n: doing=('g',now+D/pace*r.uniform(1-jit,1+jit),now)
                else: doing=None; p.grew(now); nextc=max(nextc,math.ceil(now))
            else:
                doing=None; p.shrank(now); nextc=math.ceil(now)
                led.pop() if led else 0
            p.led=sum(led); p.ledb=p.led*D
        elif doing and doing[0]=='s' and free<sfree-G/4:
            pm+=1; doing=None; nextc=math.ceil(now)
        if not doing and now>=nextc:
            nextc+=1
            v=p.check(now,free,D/est if pm<n else None)
            if trace: print(round(now,1),int(free),pm,v,round(p.last))
            if v[0]=='grow' and pm<n:
                by=v[1];gained=0;why=v[2]; doing=('g',now+D/pace*r.uniform(1-jit,1+jit),now)
            elif v[0]=='shrink' and pm>0 and v[1]>=D:
                # memory is offline at once
                pm-=1; doing=('s',now+3*D/pace,now); sfree=free-D
        now=round(now+DT,1)
    return dict(out=swp,used=used,beyond=beyond,conv=conv_n)
def slope(rate,size,hold): 
    t=size/rate
    return (lambda x: 0 if x<5 else min(size,(x-5)*rate) if x<5+t+hold else 0), 5+t+hold+5
def steps(piece,every,size,hold):
    t=size/piece*every
    return (lambda x: 0 if x<5 else min(size,int((x-5)/every+1)*piece) if x<5+t+hold else 0), 5+t+hold+5
def bursts(rate,on,off,size,hold):
    period=on+off; t=size/(rate*on)*period
    def f(x):
        if x<5 or x>5+t+hold: return 0
        k,ph=divmod(x-5,period)
        return min(size,k*rate*on+min(ph,on)*rate)
    return f,5+t+hold+5
def saw(rate,size,off,times):
    t=size/rate; per=t+off
    def f(x):
        if x<5 or x>5+per*times: return 0
        ph=(x-5)%per
        return ph*rate if ph<t else 0
    return f,5+per*times+5
def wobble(rate,size,hold,seed):
    r=random.Random(seed); cum=[0]
    while cum[-1]<size: cum.append(cum[-1]+rate*r.choice([0.2,0.5,1,1.5,2]))
    t=len(cum)-1
    def f(x):
        if x<5 or x>5+t+hold: return 0
        k=int(x-5)
        if k>=t: return size
        return min(size,cum[k]+(x-5-k)*(cum[k+1]-cum[k]))
    return f,5+t+hold+5
sizes=[500,700,850,1000,1200,1350,1500,1700,1950,2200,2500]
def cases(hold=60):
    for rate in (15,30,60,120,240,480):
        for s in sizes:
            yield 'slope',rate,slope(rate,s,hold)
            yield 'wobble',rate,wobble(rate,s,hold,s)
            yield 'bursts',rate,bursts(rate,4,6,s,hold)
    for piece,every in((50,2),(100,3),(200,5),(200,2),(400,10)):
        for s in sizes: yield 'steps',piece/every,steps(piece,every,s,hold)
    for rate in(60,120,240):
        for s in sizes:
            yield 'saw',rate,saw(rate,s,8,4)
base=dict(T=92,growth=5,rate='now',kind='factor',lead=2.0)
def mk(**k): return {**base,**k}
CAND={
 'no lead': mk(lead=0),
 'before': base,
 'now': mk(kind='floor',lead=1,rate='max',steady=10,backto=2,by='need'),
 'now, goal of the growth factor': mk(kind='floor',lead=1,rate='max',steady=10,backto=2),
 'now, nothing back early': mk(kind='floor',lead=1,rate='max',by='need'),
 'now, back after 5 s': mk(kind='floor',lead=1,rate='max',steady=5,backto=2,by='need'),
 'now, 1.5 times': mk(kind='floor',lead=1.5,rate='max',steady=10,backto=2,by='need'),
 '1.5 times, threshold not looked at': mk(lead=1.5,rate='max',steady=10,backto=2,by='need'),
}
from multiprocessing import Pool
devs=[(128,16,400),(128,16,1500),(384,6,400),(384,6,1500),(768,3,400),(768,3,1500)]
def feasible(rate,D,pace): return rate<=0.7*D/(D/pace+1)
def job(a):
    name,o=a; tot={}
    for D,n,pace in devs:
        for kind,rate,(f,end) in cases():
            peak=dict(steps=rate).get(kind,rate)
            if not feasible(rate*(2 if kind=='wobble' else 1),D,pace): continue
            r=run(o,f,end,D,n,pace)
            for g in (kind,'ALL','D%d/%d'%(D,pace)):
                t=tot.setdefault(g,[0,0,0,0,0,0]); t[0]+=r['out'];t[1]+=r['out']>1;t[2]+=r['used']/1024;t[3]+=r['beyond']/1024;t[4]+=r['conv'];t[5]+=1
    return name,tot
if __name__=='__main__':
    want=sys.argv[1:]
    c=[(n,o) for n,o in CAND.items() if not want or any(w in n for w in want)]
    with Pool(2) as p: res=p.map(job,c,1)
    for g in sorted(res[0][1]):
        print(g)
        for name,t in res and [(n,x[g]) for n,x in res]:
            print(f"  {name:36} swapped {t[0]:7.0f} in {t[1]:4d}/{t[5]:4d} used {t[2]:7.0f} beyond {t[3]:6.0f} {t[3]/t[2]:5.2f} conv {t[4]}")
